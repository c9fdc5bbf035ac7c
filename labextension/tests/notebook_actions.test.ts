import { YNotebook } from '@jupyter/ydoc';
import type { INotebookCellExecutor, INotebookTracker } from '@jupyterlab/notebook';
import { PromiseDelegate } from '@lumino/coreutils';
import { describe, expect, it } from 'vitest';

import { notebookActions } from '../src/features/notebooks/notebook_actions';
import type { ActionError } from '../src/features/notebooks/notebook_bridge';
import { settle } from './peer';

/** An open notebook with the cells `a`, `b` and `c`; `run` is somebody's Shift-Enter. */
class Lab {
  constructor() {
    const cells = ['a', 'b', 'c'].map(id => ({
      ...{ id, cell_type: 'code' as const, source: id, metadata: {}, outputs: [], execution_count: null }
    }));
    this.model = YNotebook.create({ data: { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 } });
    this.widgets = cells.map(({ id }) => ({
      model: { id, type: 'code' },
      outputArea: { future: null as { done: Promise<void>; isDisposed: boolean } | null }
    }));
    const panel = {
      isDisposed: false,
      isVisible: false,
      content: { widgets: this.widgets, mode: 'command' },
      context: {
        path: 'n.ipynb',
        ready: Promise.resolve(),
        contentsModel: this.file,
        model: { sharedModel: this.model }
      },
      sessionContext: { session: { kernel: { name: 'python3', status: 'busy' } } }
    };
    const tracker = { find: (test: (item: object) => boolean) => [panel].find(test) };
    this._actions = notebookActions(
      tracker as unknown as INotebookTracker,
      {} as INotebookCellExecutor,
      async () => undefined
    );
  }

  run(id: string): PromiseDelegate<void> {
    const end = new PromiseDelegate<void>();
    const widget = this.widgets.find(({ model }) => model.id === id);
    widget!.outputArea.future = { done: end.promise, isDisposed: false };
    return end;
  }

  apply(...changes: object[]): Promise<string> {
    return this._actions['notebook.apply']({ path: 'n.ipynb', changes }).then(
      () => 'done',
      (error: ActionError) => error.code
    );
  }

  async running(): Promise<unknown> {
    return (await this._actions['notebook.read']({ path: 'n.ipynb', from: 0, inFull: [] })).running;
  }

  get sources(): string[] {
    return this.model.cells.map(cell => cell.getSource());
  }

  readonly file = { writable: true };
  readonly model;
  readonly widgets;
  private readonly _actions;
}

const move = (cellId: string) => ({ kind: 'move', cellId, place: 'start', baseHash: null });
const edit = (cellId: string, source: string) => ({ kind: 'edit', cellId, source, baseHash: null });
const markdown = { id: 'b', cell_type: 'markdown', source: 'b', metadata: {} };

describe('notebook.apply', () => {
  it.each([
    ['move', move('b')],
    ['delete', { kind: 'delete', cellId: 'b', baseHash: null }],
    ['change of the type', { kind: 'restore', cell: markdown, baseHash: null }]
  ])('rejects a %s of a running cell, which would lose its output', async (_, change) => {
    const lab = new Lab();
    const run = lab.run('b');
    expect(await lab.running()).toEqual(['b']);
    expect(await lab.apply(edit('a', 'changed'), change)).toBe('running');
    expect(lab.sources).toEqual(['a', 'b', 'c']);
    run.reject(new Error('interrupted'));
    await settle();
    expect(await lab.running()).toEqual([]);
    expect(await lab.apply(change)).toBe('done');
  });

  it('changes the source of a running cell, and moves cells around it', async () => {
    const lab = new Lab();
    lab.run('b');
    const shared = lab.model.cells[1];
    expect(await lab.apply(edit('b', 'changed'), move('c'))).toBe('done');
    expect(lab.sources).toEqual(['c', 'a', 'changed']);
    expect(lab.model.cells[2]).toBe(shared); // else JupyterLab would draw it anew
  });

  it('rejects unsaveable changes, but still shows outputs of a run', async () => {
    const lab = new Lab();
    lab.file.writable = false;
    const outputs = { kind: 'outputs', cellId: 'a', outputs: [], executionCount: 3 };
    expect(await lab.apply(edit('a', 'changed'))).toBe('not_saved');
    expect(await lab.apply(outputs, edit('a', 'changed'))).toBe('not_saved');
    expect(await lab.apply(outputs)).toBe('done');
    expect(lab.sources).toEqual(['a', 'b', 'c']);
    expect(lab.model.cells[0].toJSON()).toMatchObject({ execution_count: 3 });
  });
});
