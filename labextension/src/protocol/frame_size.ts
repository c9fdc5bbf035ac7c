/** What fits into one frame of the socket. The server closes a connection that sends a larger one. */

export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** Room for the envelope around an answer. */
export const MAX_ANSWER_BYTES = MAX_FRAME_BYTES - 64 * 1024;

/** How many bytes a JSON value takes in a frame. */
export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value) ?? '').length;
}

/** The approximate length of a JSON value, without serializing it; counting stops beyond `enough`. */
export function countChars(value: unknown, enough: number): number {
  if (typeof value === 'string') {
    return value.length;
  }
  if (typeof value !== 'object' || value === null) {
    return 8;
  }
  let count = 0;
  for (const [key, part] of Object.entries(value)) {
    count += key.length + countChars(part, enough - count);
    if (count > enough) {
      break;
    }
  }
  return count;
}

/** Text that a frame can hold: a lone surrogate becomes U+FFFD, as in UTF-8. */
export function wellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? new TextDecoder().decode(new TextEncoder().encode(text)) : text;
}
