/**
 * Memory texts as they are shown: files split into pieces with their lines, marked words, groups of files.
 */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { MemoryFileInfo, MemoryPassage } from '../../protocol/wire';
import { FACTS_FILE } from '../../shared/citations';
import { MarkdownBlocks } from '../../shared/markdown_blocks';

/** A piece of a file; `startLine` and `endLine` are counted from 1, inclusive. */
export interface TextPiece {
  text: string;
  startLine: number;
  endLine: number;
  /** One item of a list that continues with the next piece. */
  isItem: boolean;
}

const ITEM = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const STEM_CHARS = 4;

/** A file's Markdown in pieces that can be drawn one by one: blocks, and each list item by itself. */
export function textPieces(text: string): readonly TextPiece[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const block of new MarkdownBlocks().update(lines.join('\n'), true)) {
    while (lines[at] !== undefined && lines[at].trim() === '') {
      at += 1;
    }
    const count = block.text.split('\n').length;
    pieces.push(...itemsOf(lines.slice(at, at + count), at + 1));
    at += count;
  }
  return pieces;
}

function itemsOf(lines: readonly string[], startLine: number): TextPiece[] {
  const starts = lines.map((line, index) => (ITEM.test(line) ? index : -1)).filter(index => index >= 0);
  if (starts[0] !== 0 || hasFence(lines)) {
    return [piece(lines, startLine, false)];
  }
  return starts.map((start, index) => piece(lines.slice(start, starts[index + 1]), startLine + start, true));
}

function piece(lines: readonly string[], startLine: number, isItem: boolean): TextPiece {
  const text = lines.join('\n').trimEnd();
  return { text, startLine, endLine: startLine + text.split('\n').length - 1, isItem };
}

/** A fence contains no lists, and must not be split. */
function hasFence(lines: readonly string[]): boolean {
  return lines.some(line => /^\s*(?:[-*+]\s+)?(?:`{3,}|~{3,})/.test(line));
}

/** A text in parts, every other one a hit; a word of the query also marks words that begin with it. */
export function markedParts(text: string, query: string): readonly string[] {
  const words = [...new Set(query.match(/[\p{L}\p{N}_]+/gu) ?? [])].filter(word => word.length > 1);
  if (words.length === 0) {
    return [text];
  }
  const longestFirst = words.sort((one, other) => other.length - one.length);
  const patterns = longestFirst.map(word => (word.length < STEM_CHARS ? `${word}(?![\\p{L}\\p{N}_])` : word));
  return text.split(new RegExp(`(?<![\\p{L}\\p{N}_])(${patterns.join('|')})`, 'giu'));
}

/** The most telling lines of a snippet: from its first hit on, without Markdown syntax. */
export function snippetFrom(snippet: string, query: string): string {
  const lines = snippet.split('\n').map(plain).filter(Boolean);
  const hit = lines.findIndex(line => markedParts(line, query).length > 1);
  return lines.slice(Math.max(0, hit)).join(' ');
}

function plain(line: string): string {
  return line
    .replace(/^\s*(?:#{1,6}|[-*+]|\d{1,9}[.)]|>)\s+/, '')
    .replace(/(\*\*|__|`)(.+?)\1/g, '$2')
    .trim();
}

type Lines = Pick<MemoryPassage, 'startLine' | 'endLine'>;

/** `12–14`. */
export function linesOf({ startLine, endLine }: Lines): string {
  return startLine === endLine ? String(startLine) : `${startLine}–${endLine}`;
}

/** `MEMORY.md:12–14`. */
export function placeName(passage: Lines & Pick<MemoryPassage, 'path'>): string {
  return `${passage.path}:${linesOf(passage)}`;
}

export type FileGroup = 'remembered' | 'days' | 'shared' | 'instructions' | 'deleted';

const REMEMBERED = ['MEMORY.md', 'USER.md', FACTS_FILE, 'HISTORY.md'];
const ORDER: readonly FileGroup[] = ['remembered', 'days', 'shared', 'instructions', 'deleted'];

/** The files in groups that users look for: what is remembered, daily notes newest first, and so on. */
export function fileGroups(files: readonly MemoryFileInfo[]): ReadonlyArray<[FileGroup, MemoryFileInfo[]]> {
  const groups = new Map<FileGroup, MemoryFileInfo[]>();
  for (const file of files) {
    const group = groupOf(file);
    groups.set(group, [...(groups.get(group) ?? []), file]);
  }
  groups.get('days')?.reverse();
  const rank = ({ path }: MemoryFileInfo) => REMEMBERED.indexOf(path);
  groups.get('remembered')?.sort((one, other) => rank(one) - rank(other));
  return ORDER.flatMap(group => (groups.has(group) ? [[group, groups.get(group)!] as const] : [])).map(
    ([group, found]) => [group, found]
  );
}

function groupOf(file: MemoryFileInfo): FileGroup {
  if (file.deleted) {
    return 'deleted';
  }
  if (file.shared) {
    return 'shared';
  }
  if (REMEMBERED.includes(file.path)) {
    return 'remembered';
  }
  return file.path.startsWith('memory/') ? 'days' : 'instructions';
}

/**
 * A file's title: `Facts`, `Friday, 20 Nov 2026` for daily notes, in the browser's language; else its name.
 */
export function fileTitle(path: string, trans: TranslationBundle): string {
  if (path === FACTS_FILE) {
    return trans.__('Facts');
  }
  const day = /^memory\/(\d{4})-(\d{2})-(\d{2})\.md$/.exec(path);
  if (!day) {
    return path.replace(/^(?:shared|memory)\//, '');
  }
  const date = new Date(Number(day[1]), Number(day[2]) - 1, Number(day[3]));
  const format: Intl.DateTimeFormatOptions = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric'
  };
  return new Intl.DateTimeFormat(undefined, format).format(date);
}

export function formatSize(sizeBytes: number): string {
  const isLarge = sizeBytes >= 1_000_000;
  const value = Math.max(sizeBytes && 0.1, sizeBytes / (isLarge ? 1_000_000 : 1000));
  const unit = isLarge ? 'megabyte' : 'kilobyte';
  const maximumFractionDigits = value < 10 ? 1 : 0;
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, maximumFractionDigits }).format(value);
}
