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

  it('accepts a notebook that has what was removed, or less', () => {
    expect(holdsOnly(notebook('made', ''), known, 'idle')).toBe(true);
    expect(holdsOnly(notebook('made'), known, 'idle')).toBe(true);
  });

  it('keeps a notebook that was edited, extended, or is unknown', () => {
    expect(holdsOnly(notebook('made, and mine', ''), known, 'idle')).toBe(false);
    expect(holdsOnly(notebook('made', '', 'mine'), known, 'idle')).toBe(false);
    expect(holdsOnly(notebook('made'), undefined, 'idle')).toBe(false);
  });

  it('keeps a notebook that is running something, and accepts one without a kernel', () => {
    expect(holdsOnly(notebook('made', ''), known, 'busy')).toBe(false);
    expect(holdsOnly(notebook('made', ''), known, undefined)).toBe(true);
  });
});

describe('hasOwnKernel', () => {
  const session = (id: string, kernel: string) => ({ id, kernel: { id: kernel, name: 'python3' } });

  it('recognizes a kernel shared with another notebook or a console', () => {
    const own = session('s1', 'k1');
    expect(hasOwnKernel(own, [own, session('s2', 'k2')])).toBe(true);
    expect(hasOwnKernel(own, [own, session('s2', 'k1')])).toBe(false);
  });
});
