import { expect, test } from 'vitest';

import { cellParts, hasCell } from '../src/shared/cell_references';

test('a cell named by its position is a reference anywhere in a text', () => {
  expect(cellParts('Churn peaks in March (cell 5). Cell 12 plots it.')).toEqual([
    'Churn peaks in March (',
    { words: 'cell 5', number: 5 },
    '). ',
    { words: 'Cell 12', number: 12 },
    ' plots it.'
  ]);
  expect(cellParts('See cells 2 and 3.')[1]).toEqual({ words: 'cells 2', number: 2 });
});

test.each(['cell 0', 'excel 5', 'cell 5.5 mm', 'cell 12345', 'cells', 'the cell id 7'])(
  '%s is no cell reference',
  text => {
    expect(cellParts(text)).toEqual([text]);
  }
);

test('a text without references has none, and an empty text no parts', () => {
  expect(hasCell('a cell')).toBe(false);
  expect(hasCell('cell 3')).toBe(true);
  expect(cellParts('')).toEqual([]);
});
