/** References to lines of memory in a text, as `MEMORY.md:12–14`. */

export interface Citation {
  path: string;
  /** Counted from 1, inclusive; absent for the whole file. */
  lines?: readonly [number, number];
  /** The id of a fact in the facts file, if it is cited by id. */
  fact?: string;
}

/** A place in one agent's memory; null is the default agent. */
export interface MemoryPlace extends Citation {
  agentId: string | null;
}

export const FACTS_FILE = 'memory/facts.jsonl';

/** A text in order: plain parts, and citations with their words. */
type CitedPart = string | { words: string; citation: Citation };

const FILE = String.raw`(?:MEMORY|USER|HISTORY)\.md|(?:memory|shared)\/[\w.-]+\.md|memory\/facts\.jsonl`;
const LINES = String.raw`L?(\d{1,7})(?:\s?[-–—]\s?L?(\d{1,7}))?`;
const FACT = String.raw`(?<=memory\/facts\.jsonl[:#])(f\d{1,7})`;
const CITATION = new RegExp(`(?<![\\w/.:-])(?:onyx:)?(${FILE})[:#](?:${LINES}|${FACT})(?![\\w/])`, 'g');

export function hasCitation(text: string): boolean {
  return text.search(CITATION) >= 0;
}

export function citedParts(text: string): readonly CitedPart[] {
  const parts: CitedPart[] = [];
  let at = 0;
  for (const found of text.matchAll(CITATION)) {
    const [words, path, start, end, fact] = found;
    const place = fact ? { fact } : { lines: ordered(Number(start), Number(end ?? start)) };
    parts.push(text.slice(at, found.index));
    parts.push({ words, citation: { path, ...place } });
    at = found.index + words.length;
  }
  parts.push(text.slice(at));
  return parts.filter(part => part !== '');
}

function ordered(start: number, end: number): [number, number] {
  return [Math.max(1, Math.min(start, end)), Math.max(1, start, end)];
}

/**
 * What the memory tools found, if an output contains that: passages, and what kept the search from being
 * better.
 */
interface FoundPassage {
  path: string;
  startLine: number;
  endLine: number;
  heading: string;
  score: number;
  snippet: string;
  vectorScore?: number | null;
  textScore?: number | null;
  recency?: number | null;
  kind?: string;
}

export interface FoundPassages {
  results: FoundPassage[];
  note: string;
}

/** null for any other output, such as a truncated one. */
export function foundPassages(output: string): FoundPassages | null {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('results' in value) || !Array.isArray(value.results)) {
    return null;
  }
  const results: unknown[] = value.results;
  const note = 'note' in value && typeof value.note === 'string' ? value.note : '';
  return results.every(isPassage) ? { results, note } : null;
}

function isPassage(value: unknown): value is FoundPassage {
  const one = value as Partial<FoundPassage> | null;
  return (
    typeof one === 'object' &&
    one !== null &&
    typeof one.path === 'string' &&
    typeof one.startLine === 'number' &&
    typeof one.endLine === 'number' &&
    typeof one.score === 'number' &&
    typeof one.snippet === 'string'
  );
}
