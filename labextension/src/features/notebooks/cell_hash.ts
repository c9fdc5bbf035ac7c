/** What a change is based on: the same hash of a cell's source that the server computes. */
import { digest } from 'lib0/hash/sha256';

const HASH_BYTES = 8;

/** The first 16 hex digits of the source's SHA-256, in UTF-8 (see `wellFormed`). */
export function cellHash(source: string): string {
  const bytes = digest(new TextEncoder().encode(source)).subarray(0, HASH_BYTES);
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
