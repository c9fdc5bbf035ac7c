/** Runs cells of open notebooks like the run button, without dialogs, and remembers the latest outcomes. */
import type { ISharedCodeCell } from '@jupyter/ydoc';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { INotebookCellExecutor, NotebookPanel } from '@jupyterlab/notebook';

import { checkBase } from './cell_changes';
import { withoutLargeOutputs, cellOf } from './cell_content';
import { MAX_ANSWER_BYTES } from '../../protocol/frame_size';
import { KernelLife } from './kernel_life';
import { isKernelFree, kernelFree } from './kernel_turn';
import { ActionError } from './notebook_bridge';
import { fullOutputs } from './output_limits';
import { Remembered } from '../../shared/bounded_cache';

const KERNEL_TIMEOUT_MS = 60_000;
const MAX_REMEMBERED = 50;
const MAX_REMEMBERED_CHARS = 10_000_000;
const MAX_BEFORE_BYTES = 1_000_000;

type Outcome = Promise<Record<string, unknown>>;

export class CellRuns {
  constructor(private readonly executor: INotebookCellExecutor) {}

  /** Starts the notebook's kernel if there is none, and waits until nothing else runs there. */
  async wait(panel: NotebookPanel): Promise<void> {
    await ensureKernel(panel);
    await kernelFree(panel);
  }

  /**
   * Runs it under a key, with which its outcome can be requested again after a lost connection; refused if
   * the cell no longer matches `baseHash`.
   */
  run(panel: NotebookPanel, cellId: string, runKey: string, baseHash: string | null = null): Outcome {
    const outcome = run(panel, cellId, baseHash, this.executor);
    this._outcomes.add(runKey, outcome);
    return outcome;
  }

  /** The outcome of a run that this page has started. */
  join(runKey: string): Outcome {
    const outcome = this._outcomes.get(runKey);
    if (!outcome) {
      throw new ActionError('no_run', 'This page has not run it.');
    }
    return outcome;
  }

  /** Whether it has ended, or never began: then any code running in the kernel is not from this run. */
  hasEnded(runKey: string): boolean {
    return this._outcomes.hasEnded(runKey);
  }

  private readonly _outcomes = new Remembered<Record<string, unknown>>(MAX_REMEMBERED, MAX_REMEMBERED_CHARS);
}

async function run(
  panel: NotebookPanel,
  cellId: string,
  baseHash: string | null,
  executor: INotebookCellExecutor
): Outcome {
  const cell = panel.content.widgets.find(widget => widget.model.id === cellId);
  if (!cell) {
    throw new ActionError('no_cell', `The notebook has no cell ${cellId}.`);
  }
  if (cell.model.type !== 'code') {
    throw new ActionError('not_code', 'Only a code cell can be run.');
  }
  if (!(await isKernelFree(panel))) {
    throw new ActionError('kernel_busy', 'Something else is running in the kernel of the notebook.');
  }
  const shared = cell.model.sharedModel as ISharedCodeCell;
  const now = cellOf(shared);
  checkBase(now, baseHash);
  const [before, outputsLeftOut] = withoutLargeOutputs(now, { bytes: MAX_BEFORE_BYTES });
  const life = new KernelLife(panel);
  const ended = await execute(panel, cell, executor).finally(() => life.dispose());
  if (!ended) {
    detectLostRuns(panel, life);
  }
  const outputs = cell.isDisposed
    ? []
    : fullOutputs(shared.getOutputs(), MAX_ANSWER_BYTES - 2 * MAX_BEFORE_BYTES);
  const failed = outputs.some(output => output.output_type === 'error');
  return {
    status: failed ? 'error' : ended ? 'ok' : 'aborted',
    executionCount: cell.isDisposed ? null : shared.execution_count,
    outputs,
    before,
    outputsLeftOut
  };
}

/** Like the run button, so that outputs, prompt and timing appear where they belong. True if it completed. */
async function execute(panel: NotebookPanel, cell: Cell, executor: INotebookCellExecutor): Promise<boolean> {
  const notebook = panel.content;
  let succeeded = false;
  try {
    await executor.runCell({
      cell,
      notebook: panel.context.model,
      notebookConfig: notebook.notebookConfig,
      sessionContext: panel.sessionContext,
      onCellExecuted: ({ success }) => {
        succeeded = success;
      },
      onCellExecutionScheduled: () => undefined
    });
  } catch {
    // The error is among the outputs; if there is none, the run was cancelled.
    return false;
  }
  return succeeded;
}

/** Throws if an unfinished run was not stopped either. */
function detectLostRuns(panel: NotebookPanel, life: KernelLife): void {
  if (panel.isDisposed) {
    // The tab's own connection is gone with it, which says nothing about the kernel.
    throw new ActionError(
      'closed',
      'The notebook was closed in the tab while the cell ran. It may still be running in the kernel; how it ended is not known.'
    );
  }
  if (life.hasEnded) {
    throw new ActionError(
      'kernel_died',
      'The kernel died or was restarted while the cell ran, so its variables are lost. Its output up to then is kept.'
    );
  }
}

async function ensureKernel(panel: NotebookPanel): Promise<void> {
  const context: ISessionContext = panel.sessionContext;
  await forgetLostKernel(context);
  if (!context.isReady && !context.hasNoKernel) {
    await within(context.ready, KERNEL_TIMEOUT_MS);
  }
  if (context.hasNoKernel) {
    const named = panel.context.model.sharedModel.getMetadata('kernelspec') as { name?: string } | undefined;
    await context.specsManager.ready;
    const known = context.specsManager.specs?.kernelspecs ?? {};
    if (!named?.name || !(named.name in known)) {
      throw new ActionError('no_kernel', 'The notebook has no kernel. Choose one at its top right.');
    }
    await within(context.changeKernel({ name: named.name }), KERNEL_TIMEOUT_MS);
  }
  if (context.isTerminating || context.hasNoKernel) {
    throw new ActionError('no_kernel', 'The kernel of the notebook is not running.');
  }
  if (context.pendingInput) {
    throw new ActionError('no_kernel', 'The kernel is waiting for input in another cell.');
  }
}

/**
 * A restarted server doesn't know the kernel that the tab still tries to reach: waiting for it would be in
 * vain.
 */
async function forgetLostKernel(context: ISessionContext): Promise<void> {
  const kernel = context.session?.kernel;
  if (kernel && kernel.connectionStatus !== 'connected') {
    await within(context.sessionManager.refreshRunning(), KERNEL_TIMEOUT_MS);
  }
}

async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ActionError('no_kernel', 'The kernel did not start in time.')),
      timeoutMs
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
