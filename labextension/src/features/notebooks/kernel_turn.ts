/** When a notebook's kernel has nothing else to do. It neither runs nor interrupts anything there. */
import type { Cell, CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { ActionError } from './notebook_bridge';

const DEAD_STATES: readonly string[] = ['dead', 'terminating'];

type Future = CodeCell['outputArea']['future'];

const ended = new WeakSet<Future>();

/** Whether a cell sent to it now would run at once. */
export async function isKernelFree(panel: NotebookPanel): Promise<boolean> {
  return status(panel) === 'idle' && (await waiting(panel)).length === 0;
}

/** The cells of this tab's notebook that are running or in the kernel's queue. */
export async function runningCells(panel: NotebookPanel): Promise<ReadonlySet<string>> {
  const queue = new Set<Future | null>(await waiting(panel));
  return new Set(panel.content.widgets.filter(cell => queue.has(futureOf(cell))).map(cell => cell.model.id));
}

/**
 * Waits until it is free, for hours if necessary; fails if the kernel or the notebook goes away meanwhile.
 */
export async function kernelFree(panel: NotebookPanel): Promise<void> {
  while (!(await isKernelFree(panel))) {
    if (panel.isDisposed) {
      throw new ActionError('not_open', 'The notebook was closed.');
    }
    const now = status(panel);
    if (now === undefined || DEAD_STATES.includes(now)) {
      throw new ActionError('no_kernel', 'The kernel of the notebook is not running.');
    }
    await change(panel);
  }
}

function status(panel: NotebookPanel): string | undefined {
  return panel.isDisposed ? undefined : panel.sessionContext.session?.kernel?.status;
}

/** The notebook's cells in the kernel's queue: between two of them the kernel is idle for a moment. */
async function waiting(panel: NotebookPanel): Promise<Future[]> {
  const futures = panel.content.widgets.map(futureOf).filter(future => future !== null);
  for (const future of futures.filter(future => !ended.has(future))) {
    const end = () => void ended.add(future);
    future.done.then(end, end);
  }
  await Promise.resolve(); // so that those that ended long ago are known
  return futures.filter(future => !ended.has(future));
}

function futureOf(cell: Cell): Future | null {
  const future = cell.model.type === 'code' ? (cell as CodeCell).outputArea?.future : null;
  return future && !future.isDisposed ? future : null;
}

/** Waits until the state of the kernel or of a queued cell changes, or the notebook is closed. */
async function change(panel: NotebookPanel): Promise<void> {
  const before = status(panel);
  const queue = await waiting(panel);
  await new Promise<void>(resolve => {
    const { sessionContext } = panel;
    const done = () => {
      sessionContext.statusChanged.disconnect(done);
      sessionContext.kernelChanged.disconnect(done);
      panel.disposed.disconnect(done);
      resolve();
    };
    sessionContext.statusChanged.connect(done);
    sessionContext.kernelChanged.connect(done);
    panel.disposed.connect(done);
    queue.forEach(future => future.done.then(done, done));
    if (panel.isDisposed || status(panel) !== before || (before === 'idle' && queue.length === 0)) {
      done();
    }
  });
}
