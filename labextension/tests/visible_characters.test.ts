import { expect, test } from 'vitest';

import { visiblePieces, withMarks } from '../src/shared/visible_characters';
// The server's answers: tests/security/test_visible_characters.py holds it to the same file.
import CASES from './visible_characters.json';

test('every text is marked as on the server', () => {
  expect(CASES.length).toBeGreaterThan(400);
  for (const [text, marked] of CASES) {
    expect(withMarks(text), JSON.stringify(text)).toBe(marked);
  }
});

test('the parts add up to the text, character by character', () => {
  for (const [text] of [...CASES, ['\ud800x\udc00']]) {
    const back = visiblePieces(text).map(piece =>
      typeof piece === 'string' ? piece : piece.character.repeat(piece.count)
    );
    expect(back.join('')).toBe(text);
  }
});

test('a mark names its character', () => {
  expect(visiblePieces('a\u202eb')).toEqual([
    'a',
    { kind: 'invisible', character: '\u202e', count: 1, label: 'U+202E', name: 'right-to-left override' },
    'b'
  ]);
  expect(visiblePieces('p\u0430y')[1]).toMatchObject({ kind: 'look_alike', label: 'U+0430', name: 'a' });
});
