/**
 * What the assistant can do to a notebook that is open in this tab: through the tab's own model, so that the
 * user sees it live and can undo it. It shows no dialog and takes the focus only when asked to show a cell.
 */
import type { ISharedNotebook, YBaseCell } from '@jupyter/ydoc';
import type { IBaseCellMetadata } from '@jupyterlab/nbformat';
import type { INotebookCellExecutor, INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { UUID } from '@lumino/coreutils';

import { applyChanges, areOutputs } from './cell_changes';
import type { CellChange } from './cell_changes';
import { CellRuns } from './cell_runs';
import { runningCells } from './kernel_turn';
import { ActionError } from './notebook_bridge';
import type { Action, Params } from './notebook_bridge';
import { findNotebook, serverPath } from './notebook_open';
import { readPart } from './notebook_reading';
import type { OpenNotebook } from '../../protocol/wire';

/** Opens a notebook and shows one of its cells. */
export type OpenCell = (path: string, cellId: string | null) => Promise<void>;

/** The notebooks of this tab, with the one in front marked. */
export function openNotebooks(tracker: INotebookTracker): OpenNotebook[] {
  const found: OpenNotebook[] = [];
  tracker.forEach(panel => {
    const path = serverPath(panel.context);
    if (!found.some(other => other.path === path)) {
      found.push({ path, active: panel === tracker.currentWidget });
    }
  });
  return found;
}

export function notebookActions(
  tracker: INotebookTracker,
  executor: INotebookCellExecutor,
  openCell: OpenCell
): Readonly<Record<string, Action>> {
  const open = (params: Params) => openPanel(tracker, text(params, 'path'));
  const runs = new CellRuns(executor);
  return {
    'notebook.read': async params => read(await open(params), params),
    'notebook.apply': async params => apply(await open(params), params.changes as CellChange[]),
    'notebook.wait': async params => {
      await runs.wait(await open(params));
      return { ok: true };
    },
    'notebook.run': async params => {
      const baseHash = params.baseHash == null ? null : text(params, 'baseHash');
      return runs.run(await open(params), text(params, 'cellId'), text(params, 'runKey'), baseHash);
    },
    'notebook.join': async params => runs.join(text(params, 'runKey')),
    'notebook.interrupt': async params => interrupt(await open(params), runs, text(params, 'runKey')),
    'notebook.restart': async params => restart(await open(params)),
    'notebook.open': async params => {
      await openCell(text(params, 'path'), params.cellId == null ? null : text(params, 'cellId'));
      return { ok: true };
    }
  };
}

async function openPanel(tracker: INotebookTracker, path: string): Promise<NotebookPanel> {
  const panel = findNotebook(tracker, path);
  if (!panel) {
    throw new ActionError('not_open', `${path} is not open in this tab.`);
  }
  await panel.context.ready;
  if (panel.isDisposed || !panel.context.model) {
    throw new ActionError('not_open', `${path} was closed.`);
  }
  giveUniqueIds(panel.context.model.sharedModel);
  return panel;
}

/** Cells are addressed by id, but a file with duplicate ids is opened as it is. */
function giveUniqueIds(model: ISharedNotebook): void {
  const seen = new Set<string>();
  for (const cell of model.cells) {
    if (seen.has(cell.getId())) {
      const shared = cell as unknown as YBaseCell<IBaseCellMetadata>;
      model.transact(() => shared.ymodel.set('id', UUID.uuid4()), false);
    }
    seen.add(cell.getId());
  }
}

async function read(panel: NotebookPanel, params: Params): Promise<Record<string, unknown>> {
  const running = [...(await runningCells(panel))];
  const inFull = new Set(params.inFull as string[]);
  const kernel = panel.sessionContext.session?.kernel;
  const wanted = params.only ? { only: new Set(params.only as string[]), last: params.last as number } : null;
  const part = readPart(panel.context.model.sharedModel, params.from as number, inFull, wanted);
  return { ...part, running, kernel: kernel ? { name: kernel.name, status: kernel.status } : null };
}

async function apply(panel: NotebookPanel, changes: CellChange[]): Promise<Record<string, unknown>> {
  const running = await runningCells(panel);
  if (panel.context.contentsModel?.writable === false && !areOutputs(changes)) {
    throw new ActionError(
      'not_saved',
      `${serverPath(panel.context)} is read-only: changes could not be saved, so nothing was changed. Ask the user to make the file writable and reopen it, or to save it under another name.`
    );
  }
  const applied = applyChanges(panel.context.model.sharedModel, changes, running);
  const inserted = changes.find(change => change.kind === 'insert');
  if (inserted) {
    show(panel, inserted.cell.id);
  }
  return { changes: applied };
}

/** Scrolls to the cell, unless the user is typing in another one. */
function show(panel: NotebookPanel, cellId: string): void {
  const { content } = panel;
  const isTyping = content.mode === 'edit' && content.node.contains(document.activeElement);
  if (panel.isVisible && !isTyping) {
    const index = panel.context.model.sharedModel.cells.findIndex(cell => cell.getId() === cellId);
    void content.scrollToItem(index, 'smart').catch(() => undefined);
  }
}

/** Stops only that run: once it has ended, a cell of the user's own may be running. */
async function interrupt(
  panel: NotebookPanel,
  runs: CellRuns,
  runKey: string
): Promise<Record<string, unknown>> {
  if (!runs.hasEnded(runKey)) {
    await panel.sessionContext.session?.kernel?.interrupt();
  }
  return { ok: true };
}

/**
 * Like the menu command, so that cells don't keep waiting for a kernel that is gone, but without a dialog.
 */
async function restart(panel: NotebookPanel): Promise<Record<string, unknown>> {
  if (!panel.sessionContext.session?.kernel) {
    throw new ActionError('no_kernel', 'The notebook has no kernel to restart.');
  }
  await panel.sessionContext.restartKernel();
  return { ok: true };
}

function text(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') {
    throw new ActionError('bad_request', `${name} has to be text.`);
  }
  return value;
}
