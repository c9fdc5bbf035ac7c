import { YNotebook } from '@jupyter/ydoc';
import { describe, expect, it } from 'vitest';

import { cellHash } from '../src/models/cell_hash';
import { holdsOnly } from '../src/models/removed_notebook';

function notebook(...sources: string[]): YNotebook {
  const cells = sources.map((source, index) => ({
    ...{
      id: `c${index}`,
      cell_type: 'code' as const,
      source,
      metadata: {},
      execution_count: null,
      outputs: []
    }
  }));
  return YNotebook.create({ data: { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 } });
}

describe('holdsOnly', () => {
  const known = { c0: cellHash('made'), c1: cellHash('') };

  it('knows a notebook that holds what was taken away, or less', () => {
    expect(holdsOnly(notebook('made', ''), known)).toBe(true);
    expect(holdsOnly(notebook('made'), known)).toBe(true);
  });

  it('keeps a notebook in which somebody typed, added a cell, or of which nothing is known', () => {
    expect(holdsOnly(notebook('made, and mine', ''), known)).toBe(false);
    expect(holdsOnly(notebook('made', '', 'mine'), known)).toBe(false);
    expect(holdsOnly(notebook('made'), undefined)).toBe(false);
  });
});
