/** A found passage in one line: around the first word searched for, with the hits told apart. */

interface MatchPart {
  readonly text: string;
  readonly isHit: boolean;
}

/** Shorter words are everywhere. */
const LEAST_CHARS = 3;
const CHARS_BEFORE = 24;
const MOST_CHARS = 300;

export function matchParts(snippet: string, query: string): readonly MatchPart[] {
  const line = snippet.replace(/\s+/g, ' ').trim();
  const words = query.split(/[^\p{L}\p{N}]+/u).filter(word => word.length >= LEAST_CHARS);
  if (words.length === 0) {
    return [{ text: shortened(line, 0), isHit: false }];
  }
  const hits = new RegExp(words.map(word => `${word}[\\p{L}\\p{N}]*`).join('|'), 'giu');
  const first = line.search(hits);
  const shown = shortened(line, first);
  const parts: MatchPart[] = [];
  let past = 0;
  for (const hit of shown.matchAll(hits)) {
    parts.push({ text: shown.slice(past, hit.index), isHit: false }, { text: hit[0], isHit: true });
    past = hit.index + hit[0].length;
  }
  return [...parts, { text: shown.slice(past), isHit: false }].filter(part => part.text !== '');
}

/** The line from a word shortly before that place on. */
function shortened(line: string, place: number): string {
  const start = place > CHARS_BEFORE ? line.indexOf(' ', place - CHARS_BEFORE) + 1 : 0;
  const shown = line.slice(start, start + MOST_CHARS);
  return `${start > 0 ? '…' : ''}${shown}${start + MOST_CHARS < line.length ? '…' : ''}`;
}
