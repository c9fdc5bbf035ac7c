/**
 * What the assistant may do to a notebook that is open in this tab: through the tab's own model, so that a person sees
 * it live and can undo it. It shows no dialog, moves no selection and takes no focus.
 */
import type { ISharedCodeCell } from '@jupyter/ydoc';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { INotebookCellExecutor, INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import type { OpenNotebook } from '../protocol/wire';
import { applyChanges } from './cell_changes';
import type { CellChange } from './cell_changes';
import { carry, cellOf, isCode } from './cell_content';
import { ActionError } from './notebook_bridge';
import type { Action, Params } from './notebook_bridge';
import { READ_LIMITS, RUN_LIMITS, limitOutputs } from './output_limits';

const KERNEL_TIMEOUT_MS = 60_000;

/** The notebooks of this tab, the one in front marked. */
export function openNotebooks(tracker: INotebookTracker): OpenNotebook[] {
  const found: OpenNotebook[] = [];
  tracker.forEach(panel => {
    const path = panel.context.localPath;
    if (!found.some(other => other.path === path)) {
      found.push({ path, active: panel === tracker.currentWidget });
    }
  });
  return found;
}

export function notebookActions(
  tracker: INotebookTracker,
  executor: INotebookCellExecutor
): Readonly<Record<string, Action>> {
  const open = (params: Params) => openPanel(tracker, text(params, 'path'));
  return {
    'notebook.read': async params => read(await open(params)),
    'notebook.apply': async params => apply(await open(params), params.changes as CellChange[]),
    'notebook.run': async params => run(await open(params), text(params, 'cellId'), executor),
    'notebook.interrupt': async params => interrupt(await open(params))
  };
}

async function openPanel(tracker: INotebookTracker, path: string): Promise<NotebookPanel> {
  const panel = tracker.find(candidate => candidate.context.localPath === path);
  if (!panel) {
    throw new ActionError('not_open', `${path} is not open in this tab.`);
  }
  await panel.context.ready;
  if (panel.isDisposed || !panel.context.model) {
    throw new ActionError('not_open', `${path} was closed.`);
  }
  return panel;
}

function read(panel: NotebookPanel): Record<string, unknown> {
  const budget = { chars: READ_LIMITS.totalChars };
  const cells = panel.context.model.sharedModel.cells.map(cell => ({
    id: cell.getId(),
    cellType: cell.cell_type,
    source: cell.getSource(),
    executionCount: isCode(cell) ? cell.execution_count : null,
    outputs: isCode(cell) ? limitOutputs(cell.getOutputs(), READ_LIMITS, budget) : [],
    metadata: cell.getMetadata()
  }));
  const kernel = panel.sessionContext.session?.kernel;
  return { cells, kernel: kernel ? { name: kernel.name, status: kernel.status } : null };
}

function apply(panel: NotebookPanel, changes: CellChange[]): Record<string, unknown> {
  const applied = applyChanges(panel.context.model.sharedModel, changes);
  const inserted = changes.find(change => change.kind === 'insert');
  if (inserted) {
    show(panel, inserted.cell.id);
  }
  return { changes: applied };
}

/** Brings the cell into view, unless somebody is typing in another one. */
function show(panel: NotebookPanel, cellId: string): void {
  const { content } = panel;
  const isTyping = content.mode === 'edit' && content.node.contains(document.activeElement);
  if (panel.isVisible && !isTyping) {
    const index = panel.context.model.sharedModel.cells.findIndex(cell => cell.getId() === cellId);
    void content.scrollToItem(index, 'smart').catch(() => undefined);
  }
}

async function run(
  panel: NotebookPanel,
  cellId: string,
  executor: INotebookCellExecutor
): Promise<Record<string, unknown>> {
  cellIndex(panel, cellId);
  const cell = panel.content.widgets.find(widget => widget.model.id === cellId);
  if (!cell || cell.model.type !== 'code') {
    throw new ActionError('not_code', 'Only a code cell can be run.');
  }
  await ensureKernel(panel);
  const shared = cell.model.sharedModel as ISharedCodeCell;
  const [before, outputsLeftOut] = carry(cellOf(shared), { chars: 1_000_000 });
  const ended = await execute(panel, cell, executor);
  const outputs = cell.isDisposed ? [] : limitOutputs(shared.getOutputs(), RUN_LIMITS);
  const failed = outputs.some(output => output.output_type === 'error');
  return {
    status: failed ? 'error' : ended ? 'ok' : 'aborted',
    executionCount: cell.isDisposed ? null : shared.execution_count,
    outputs,
    before,
    outputsLeftOut
  };
}

/** As the run button does it, so that outputs, prompt and timing appear where they belong. True when it ran through. */
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
    // The error is among the outputs; one that is not there means that the run was called off.
    return false;
  }
  return succeeded;
}

async function ensureKernel(panel: NotebookPanel): Promise<void> {
  const context: ISessionContext = panel.sessionContext;
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
    throw new ActionError('no_kernel', 'The kernel waits for input in another cell.');
  }
}

async function interrupt(panel: NotebookPanel): Promise<Record<string, unknown>> {
  await panel.sessionContext.session?.kernel?.interrupt();
  return { ok: true };
}

function cellIndex(panel: NotebookPanel, cellId: string): number {
  const index = panel.context.model.sharedModel.cells.findIndex(cell => cell.getId() === cellId);
  if (index < 0) {
    throw new ActionError('no_cell', `The notebook has no cell ${cellId}.`);
  }
  return index;
}

function text(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') {
    throw new ActionError('bad_request', `${name} has to be text.`);
  }
  return value;
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
