/**
 * The smallest single replacement that turns one text into another, so that the text around it stays
 * untouched.
 */

interface TextPatch {
  /** Where the old text is replaced, from (inclusive) and to (exclusive). */
  start: number;
  end: number;
  text: string;
}

/** Null if both are equal. Surrogate pairs are never split. */
export function textPatch(before: string, after: string): TextPatch | null {
  if (before === after) {
    return null;
  }
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) {
    start++;
  }
  if (start > 0 && isHigh(before, start - 1)) {
    start--;
  }
  let same = 0;
  while (same < shorter - start && before[before.length - 1 - same] === after[after.length - 1 - same]) {
    same++;
  }
  if (same > 0 && isLow(before, before.length - same)) {
    same--;
  }
  return { start, end: before.length - same, text: after.slice(start, after.length - same) };
}

function isHigh(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
