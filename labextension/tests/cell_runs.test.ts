import { YNotebook } from '@jupyter/ydoc';
import type { INotebookCellExecutor, NotebookPanel } from '@jupyterlab/notebook';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { describe, expect, it } from 'vitest';

import { cellHash } from '../src/features/notebooks/cell_hash';
import { CellRuns } from '../src/features/notebooks/cell_runs';
import type { ActionError } from '../src/features/notebooks/notebook_bridge';
import { settle } from './peer';

/** A notebook with one cell, which runs until the test ends it; `outcome` is what the server gets. */
class Lab {
  constructor(baseHash: string | null = null) {
    const cell = {
      id: 'c',
      cell_type: 'code' as const,
      source: 'x',
      metadata: {},
      outputs: [],
      execution_count: null
    };
    const model = YNotebook.create({ data: { cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 } });
    this.cell = {
      model: { id: 'c', type: 'code', sharedModel: model.cells[0] },
      outputArea: { future: null },
      isDisposed: false
    };
    this.panel = {
      isDisposed: false,
      content: { widgets: [this.cell] },
      context: { model: { sharedModel: model } },
      sessionContext: {
        session: { kernel: { status: 'idle' } },
        statusChanged: new Signal<object, string>(this),
        kernelChanged: new Signal<object, void>(this)
      }
    };
    const executor = {
      runCell: async ({ onCellExecuted }: { onCellExecuted: (done: { success: boolean }) => void }) => {
        this.ran += 1;
        if (await this.reply.promise) {
          onCellExecuted({ success: true });
        }
        return true;
      }
    };
    this.outcome = new CellRuns(executor as unknown as INotebookCellExecutor)
      .run(this.panel as unknown as NotebookPanel, 'c', 'key', baseHash)
      .then(
        result => result.status as string,
        (error: ActionError) => error.code
      );
  }

  /** What JupyterLab does with the cells that ran: it cancels them. */
  async cancel(...statuses: string[]): Promise<void> {
    await settle();
    statuses.forEach(status => this.panel.sessionContext.statusChanged.emit(status));
    this.reply.resolve(false);
  }

  ran = 0;
  readonly reply = new PromiseDelegate<boolean>();
  readonly cell;
  readonly panel;
  readonly outcome: Promise<string>;
}

describe('CellRuns', () => {
  it.each([['restarting'], ['restarting', 'autorestarting'], ['terminating'], ['dead']])(
    'distinguishes a cell whose kernel became %s from a stopped one',
    async (...statuses) => {
      const lab = new Lab();
      await lab.cancel('busy', ...statuses);
      expect(await lab.outcome).toBe('kernel_died');
    }
  );

  it('recognizes a cell whose notebook lost its kernel', async () => {
    const lab = new Lab();
    await settle();
    lab.panel.sessionContext.kernelChanged.emit();
    lab.reply.resolve(false);
    expect(await lab.outcome).toBe('kernel_died');
  });

  it('reports a stopped cell as aborted', async () => {
    const lab = new Lab();
    await lab.cancel('busy', 'idle');
    expect(await lab.outcome).toBe('aborted');
  });

  it('reports that the cell of a closed notebook may still be running', async () => {
    const lab = new Lab();
    await settle();
    lab.panel.sessionContext.kernelChanged.emit(); // closing takes the notebook's connection from it
    lab.panel.isDisposed = true;
    lab.cell.isDisposed = true;
    lab.reply.resolve(false);
    expect(await lab.outcome).toBe('closed');
  });

  it.each([
    [null, 'ok', 1],
    [cellHash('x'), 'ok', 1],
    [cellHash('what was allowed'), 'stale', 0]
  ])('runs a cell based on %s: %s', async (baseHash, outcome, ran) => {
    const lab = new Lab(baseHash);
    lab.reply.resolve(true);
    expect(await lab.outcome).toBe(outcome);
    expect(lab.ran).toBe(ran);
  });

  it('accepts a completed run whatever happens to the kernel at that moment', async () => {
    const lab = new Lab();
    await settle();
    lab.panel.sessionContext.statusChanged.emit('restarting');
    lab.reply.resolve(true);
    expect(await lab.outcome).toBe('ok');
  });
});
