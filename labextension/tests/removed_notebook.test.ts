import { YNotebook } from '@jupyter/ydoc';
import { describe, expect, it } from 'vitest';

import { cellHash } from '../src/features/notebooks/cell_hash';
import { hasOwnKernel, holdsOnly } from '../src/features/notebooks/removed_notebook';

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
    expect(holdsOnly(notebook('made', ''), known, 'idle')).toBe(true);
    expect(holdsOnly(notebook('made'), known, 'idle')).toBe(true);
  });

  it('keeps a notebook in which somebody typed, added a cell, or of which nothing is known', () => {
    expect(holdsOnly(notebook('made, and mine', ''), known, 'idle')).toBe(false);
    expect(holdsOnly(notebook('made', '', 'mine'), known, 'idle')).toBe(false);
    expect(holdsOnly(notebook('made'), undefined, 'idle')).toBe(false);
  });

  it('keeps a notebook in which something is being computed, and lets one go that has no kernel', () => {
    expect(holdsOnly(notebook('made', ''), known, 'busy')).toBe(false);
    expect(holdsOnly(notebook('made', ''), known, undefined)).toBe(true);
  });
});

describe('hasOwnKernel', () => {
  const session = (id: string, kernel: string) => ({ id, kernel: { id: kernel, name: 'python3' } });

  it('tells a kernel that another notebook or a console has, too', () => {
    const own = session('s1', 'k1');
    expect(hasOwnKernel(own, [own, session('s2', 'k2')])).toBe(true);
    expect(hasOwnKernel(own, [own, session('s2', 'k1')])).toBe(false);
  });
});
