import { describe, expect, it } from 'vitest';

import { foldUnchanged, lineDiff, readUnified } from '../src/shared/line_diff';
import type { DiffLine } from '../src/shared/line_diff';

const side = (lines: DiffLine[], without: DiffLine['kind']) =>
  lines
    .filter(line => line.kind !== without)
    .map(line => line.text)
    .join('\n');

describe('lineDiff', () => {
  it('marks exactly the lines that differ', () => {
    expect(lineDiff('a\nb\nc', 'a\nx\nc')).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'x' },
      { kind: 'same', text: 'c' }
    ]);
  });

  it('rebuilds both texts from the lines shown', () => {
    const texts = ['', 'a', 'a\nb', 'b\na\nb', 'x\n\ny', 'a\nb\nc\nd\ne', 'e\nd\nc\nb\na', 'c\na\nx\nb'];
    for (const before of texts) {
      for (const after of texts) {
        const lines = lineDiff(before, after);
        expect(side(lines, 'added')).toBe(before);
        expect(side(lines, 'removed')).toBe(after);
      }
    }
  });

  it('finds edits far apart in a long text', () => {
    const before = Array.from({ length: 3000 }, (_, index) => `line ${index}`);
    const after = before.map((line, index) => (index === 2 || index === 2990 ? 'changed' : line));
    const changes = lineDiff(before.join('\n'), after.join('\n')).filter(line => line.kind !== 'same');
    expect(changes.map(line => line.text)).toEqual(['line 2', 'changed', 'line 2990', 'changed']);
  });

  it('stays exact and fast on long texts that differ everywhere', () => {
    const before = Array.from({ length: 3000 }, (_, index) => `old ${index}`).join('\n');
    const after = Array.from({ length: 3000 }, (_, index) => `new ${index}`).join('\n');
    const lines = lineDiff(`same\n${before}`, `same\n${after}`);
    expect(side(lines, 'added')).toBe(`same\n${before}`);
    expect(lines[0]).toEqual({ kind: 'same', text: 'same' });
  });

  it('folds long unchanged parts and shows their line count', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');
    const folded = foldUnchanged(lineDiff(before, before.replace('line 10', 'changed')));
    expect(folded.map(part => (Array.isArray(part) ? part.length : part.kind))).toEqual([
      8,
      ...['same', 'same', 'removed', 'added', 'same', 'same'],
      7
    ]);
    expect(folded[0]).toContainEqual({ kind: 'same', text: 'line 7' });
  });

  it('shows a changed line ending', () => {
    expect(lineDiff('a\r\nb', 'a\nb')).toEqual([
      { kind: 'removed', text: 'a\r' },
      { kind: 'added', text: 'a' },
      { kind: 'same', text: 'b' }
    ]);
  });
});

describe('a unified diff', () => {
  it('is parsed line by line, with only its prefixes removed', () => {
    const diff = '@@ -3,2 +4,3 @@\n same\n-  old\n+++new\n+\n\\ The last line loses its line end.';
    expect(readUnified(diff)).toEqual([
      { kind: 'hunk', text: '4' },
      { kind: 'same', text: 'same' },
      { kind: 'removed', text: '  old' },
      { kind: 'added', text: '++new' },
      { kind: 'added', text: '' },
      { kind: 'note', text: ' The last line loses its line end.' }
    ]);
    expect(readUnified('')).toEqual([]);
  });
});
