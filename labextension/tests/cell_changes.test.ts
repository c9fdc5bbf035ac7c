import { YNotebook } from '@jupyter/ydoc';
import { describe, expect, it } from 'vitest';

import { applyChanges } from '../src/features/notebooks/cell_changes';
import type { CellChange } from '../src/features/notebooks/cell_changes';
import { cellHash } from '../src/features/notebooks/cell_hash';
import { ActionError } from '../src/features/notebooks/notebook_bridge';
import { textPatch } from '../src/features/notebooks/text_patch';

const STREAM = { output_type: 'stream', name: 'stdout', text: ['one\n', 'two\n'] };

function notebook(...sources: string[]): YNotebook {
  const cells = sources.map((source, index) => ({
    id: `c${index}`,
    cell_type: 'code' as const,
    source,
    metadata: {},
    outputs: [],
    execution_count: null
  }));
  return YNotebook.create({ data: { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 } });
}

function code(id: string, source: string, more = {}): never {
  return { id, cell_type: 'code', source, metadata: {}, ...more } as never;
}

const sources = (model: YNotebook) => model.cells.map(cell => `${cell.getId()}:${cell.getSource()}`);

function refusal(action: () => unknown): ActionError {
  try {
    action();
  } catch (error) {
    return error as ActionError;
  }
  throw new Error('nothing was refused');
}

describe('applyChanges', () => {
  it('applies a mixed batch, each change on top of the ones before', () => {
    const model = notebook('a', 'b', 'c');
    const made = applyChanges(model, [
      { kind: 'insert', cell: code('n', 'new'), place: { after: 'c0' } },
      { kind: 'edit', cellId: 'n', source: 'newer', baseHash: cellHash('new') },
      { kind: 'move', cellId: 'c2', place: 'start', baseHash: cellHash('c') },
      { kind: 'delete', cellId: 'c1', baseHash: cellHash('b') },
      { kind: 'insert', cell: code('m', 'last'), place: 'end' }
    ]);
    expect(sources(model)).toEqual(['c2:c', 'c0:a', 'n:newer', 'm:last']);
    expect(made.map(change => [change.cellId, change.before?.source ?? null, change.beforePlace])).toEqual([
      ['n', null, null],
      ['n', 'new', { after: 'c0' }],
      ['c2', 'c', { after: 'c1' }],
      ['c1', 'b', { after: 'n' }],
      ['m', null, null]
    ]);
  });

  it.each<[string, CellChange]>([
    ['stale', { kind: 'edit', cellId: 'c1', source: 'x', baseHash: cellHash('older') }],
    ['stale', { kind: 'move', cellId: 'c1', place: 'start', baseHash: cellHash('older') }],
    ['no_cell', { kind: 'delete', cellId: 'gone', baseHash: null }],
    ['no_cell', { kind: 'insert', cell: code('x', ''), place: { after: 'gone' } }],
    ['cell_exists', { kind: 'insert', cell: code('c1', ''), place: 'end' }]
  ])('changes nothing where one change is refused as %s', (reason, bad) => {
    const model = notebook('a', 'b');
    const before = sources(model);
    const error = refusal(() =>
      applyChanges(model, [{ kind: 'edit', cellId: 'c0', source: 'changed', baseHash: null }, bad])
    );
    expect(error.code).toBe(reason);
    expect(sources(model)).toEqual(before);
  });

  it.each<[string, Extract<CellChange, { kind: 'edit' | 'delete' }>]>([
    ['editable', { kind: 'edit', cellId: 'own', source: 'x', baseHash: null }],
    ['deletable', { kind: 'delete', cellId: 'own', baseHash: null }]
  ])('leaves a cell alone that is not %s, unless a person takes something back', (key, change) => {
    const model = notebook('a');
    const cell = code('own', 'tests', { metadata: { [key]: false } });
    applyChanges(model, [{ kind: 'insert', cell, place: 'end' }]);
    const batch: CellChange[] = [{ kind: 'edit', cellId: 'c0', source: 'changed', baseHash: null }, change];
    const error = refusal(() => applyChanges(model, batch));
    expect([error.code, error.message]).toEqual(['locked', expect.stringContaining(`\`${key}: false\``)]);
    expect(sources(model)).toEqual(['c0:a', 'own:tests']);
    applyChanges(model, [{ kind: 'move', cellId: 'own', place: 'start', baseHash: null }]);
    applyChanges(model, [{ ...change, evenLocked: true }]);
    expect(sources(model)).toEqual(key === 'editable' ? ['own:x', 'c0:a'] : ['c0:a']);
  });

  it('is exact after two hundred consecutive edits', () => {
    const model = notebook('a = 1', 'b\n\nb', 'été 😀', '');
    const expected = model.cells.map(cell => cell.getSource());
    const words = ['', '\n', 'é — 😀', 'value = 1\n'];
    for (let number = 0; number < 200; number += 1) {
      const at = (number * 7) % expected.length;
      const old = expected[at];
      const letters = Array.from(old); // no half of a pair is ever left
      letters.splice((number * 13) % (letters.length + 1), number % 5, words[(number >> 2) % words.length]);
      const source = letters.join('');
      applyChanges(model, [{ kind: 'edit', cellId: `c${at}`, source, baseHash: cellHash(old) }]);
      expected[at] = source;
    }
    expect(sources(model)).toEqual(expected.map((source, at) => `c${at}:${source}`));
  });

  it('returns the current source of a stale cell', () => {
    const error = refusal(() =>
      applyChanges(notebook('a'), [{ kind: 'edit', cellId: 'c0', source: 'x', baseHash: cellHash('b') }])
    );
    expect(error.data).toEqual({ cellId: 'c0', source: 'a' });
  });

  it('leaves no notebook without cells, but may replace the last one', () => {
    const model = notebook('a');
    expect(refusal(() => applyChanges(model, [{ kind: 'delete', cellId: 'c0', baseHash: null }])).code).toBe(
      'would_empty'
    );
    expect(sources(model)).toEqual(['c0:a']);
    applyChanges(model, [
      { kind: 'delete', cellId: 'c0', baseHash: null },
      { kind: 'insert', cell: code('n', 'new'), place: 'end' }
    ]);
    expect(sources(model)).toEqual(['n:new']);
  });

  it('is one undo step, separate from typing right before and after', () => {
    const model = notebook('a', 'b');
    model.clearUndoHistory();
    model.cells[0].updateSource(1, 1, ' typed');
    applyChanges(model, [
      { kind: 'edit', cellId: 'c0', source: 'changed', baseHash: null },
      { kind: 'delete', cellId: 'c1', baseHash: null },
      { kind: 'insert', cell: code('n', 'new'), place: 'end' }
    ]);
    model.cells[0].updateSource(0, 0, 'typed after ');
    model.undo();
    expect(sources(model)).toEqual(['c0:changed', 'n:new']);
    model.undo();
    expect(sources(model)).toEqual(['c0:a typed', 'c1:b']);
    model.undo();
    expect(sources(model)).toEqual(['c0:a', 'c1:b']);
  });

  it('shows outputs beside concurrent typing, outside of undo and redo, as JupyterLab does', () => {
    const model = notebook('a', 'b');
    model.clearUndoHistory();
    model.cells[0].updateSource(1, 1, ' typed');
    model.cells[1].updateSource(1, 1, ' too');
    model.undo();
    for (const text of ['one\n', 'one\ntwo\n']) {
      applyChanges(model, [
        { kind: 'outputs', cellId: 'c1', outputs: [{ ...STREAM, text }], executionCount: null }
      ]);
    }
    model.redo();
    expect(sources(model)).toEqual(['c0:a typed', 'c1:b too']);
    model.cells[0].updateSource(7, 7, ' on');
    applyChanges(model, [{ kind: 'outputs', cellId: 'c1', outputs: [STREAM], executionCount: 3 }]);
    model.cells[0].updateSource(10, 10, '.');
    model.undo();
    expect(sources(model)).toEqual(['c0:a typed', 'c1:b too']); // what was typed at once is one step still
    expect(model.cells[1].toJSON()).toMatchObject({
      outputs: [{ ...STREAM, text: 'one\ntwo\n' }],
      execution_count: 3
    });
    model.undo();
    expect(sources(model)).toEqual(['c0:a', 'c1:b']);
    expect(model.cells[1].toJSON()).toMatchObject({ execution_count: 3 });
  });

  it('restores outputs, count and metadata, and keeps fields that a cell does not name', () => {
    const model = notebook('a');
    applyChanges(model, [
      {
        kind: 'restore',
        cell: code('c0', 'a', { outputs: [STREAM], execution_count: 7, metadata: { tags: ['t'] } }),
        baseHash: null
      }
    ]);
    const restored = { outputs: [{ ...STREAM, text: 'one\ntwo\n' }], execution_count: 7 };
    expect(model.cells[0].toJSON()).toMatchObject({ ...restored, metadata: { tags: ['t'] } });
    const bare = { id: 'c0', cell_type: 'code', source: 'b', metadata: {} } as never;
    const [made] = applyChanges(model, [{ kind: 'restore', cell: bare, baseHash: cellHash('a') }]);
    expect(model.cells[0].toJSON()).toMatchObject({ ...restored, source: 'b', metadata: {} });
    expect(made.before).toMatchObject({ ...restored, source: 'a', metadata: { tags: ['t'] } });
  });

  it('restores a cell whose type has changed meanwhile', () => {
    const model = notebook('a', 'b');
    const note = {
      id: 'c0',
      cell_type: 'markdown',
      source: '# a',
      metadata: {},
      attachments: { 'p.png': {} }
    };
    applyChanges(model, [{ kind: 'restore', cell: note as never, baseHash: null }]);
    expect(model.cells[0].toJSON()).toEqual(note);
    expect(sources(model)).toEqual(['c0:# a', 'c1:b']);
  });

  it('leaves out what no frame can carry, and says so', () => {
    const model = notebook('a', 'b');
    const huge = { ...STREAM, text: 'x'.repeat(2_000_000) };
    const cell = code('c0', 'a', { outputs: [huge], execution_count: 1 });
    applyChanges(model, [{ kind: 'restore', cell, baseHash: null }]);
    const [made] = applyChanges(model, [{ kind: 'edit', cellId: 'c0', source: 'b', baseHash: null }]);
    expect(made).toEqual({
      cellId: 'c0',
      before: { id: 'c0', cell_type: 'code', source: 'a', metadata: {} },
      beforePlace: 'start',
      outputsLeftOut: true
    });
    expect(model.cells[0].toJSON()).toMatchObject({ source: 'b', outputs: [huge] });
  });
});

describe('cellHash', () => {
  // The same pairs stand in tests/notebook/test_cells.py, for the server's own hash.
  it.each([
    ['', 'e3b0c44298fc1c14'],
    ['x = 1', '8ff436def1451285'],
    ['é😀', '1184d1f608158eea'],
    ['one\r\ntwo\t\u2028', '9bc1e17136dc0678']
  ])('equals the server’s for %j', (source, hash) => {
    expect(cellHash(source)).toBe(hash);
  });
});

describe('textPatch', () => {
  it.each([
    ['same', 'same'],
    ['x = 1', 'x = 12'],
    ['abab', 'ab'],
    ['', 'new'],
    ['old', ''],
    ['a😀b', 'a😁b'],
    ['😀', '😀😀'],
    ['one\ntwo\nthree', 'one\n2\nthree']
  ])('turns %j into %j', (before, after) => {
    const patch = textPatch(before, after);
    const made = patch ? before.slice(0, patch.start) + patch.text + before.slice(patch.end) : before;
    expect(made).toBe(after);
    expect(/\p{Surrogate}/u.test(patch?.text ?? '')).toBe(false);
  });

  it('touches only the differing part', () => {
    expect(textPatch('one\ntwo\nthree', 'one\n2\nthree')).toEqual({ start: 4, end: 7, text: '2' });
  });
});
