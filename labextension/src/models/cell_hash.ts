/** What a change says it is based on: the same hash of a cell's source that the server computes. */
import { digest } from 'lib0/hash/sha256';

const HASH_BYTES = 8;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The first 16 hex digits of the source's SHA-256. */
export function cellHash(source: string): string {
  const bytes = digest(utf8(source)).subarray(0, HASH_BYTES);
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}

/** UTF-8 in which half a surrogate pair stays what it is, as the server has it; TextEncoder would replace it. */
function utf8(text: string): Uint8Array {
  const encoder = new TextEncoder();
  if (!LONE_SURROGATE.test(text)) {
    return encoder.encode(text);
  }
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (LONE_SURROGATE.test(character)) {
      bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    } else {
      bytes.push(...encoder.encode(character));
    }
  }
  return Uint8Array.from(bytes);
}
