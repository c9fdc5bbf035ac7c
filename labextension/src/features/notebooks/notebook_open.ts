/** Which notebooks are open at which path, and how to bring a cell to the front. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { ActionError } from './notebook_bridge';

const COLLABORATION_DRIVE = 'RTC:';

/** The path as the server knows it. On another drive the drive's name stays: it is another file. */
export function serverPath({ path }: { readonly path: string }): string {
  return path.startsWith(COLLABORATION_DRIVE) ? path.slice(COLLABORATION_DRIVE.length) : path;
}

export function findNotebook(tracker: INotebookTracker, path: string): NotebookPanel | undefined {
  return tracker.find(panel => serverPath(panel.context) === path);
}

/** Opens the notebook, or brings it to the front, and makes this cell the active one. */
export async function openCell(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  path: string,
  cellId: string | null
): Promise<void> {
  const open = findNotebook(tracker, path);
  if (open) {
    app.shell.activateById(open.id);
  } else {
    await app.commands.execute('docmanager:open', { path });
  }
  const panel = findNotebook(tracker, path);
  if (!panel) {
    throw new ActionError('not_open', `${path} could not be opened as a notebook.`);
  }
  await panel.revealed;
  if (cellId === null) {
    return;
  }
  const index = panel.context.model.sharedModel.cells.findIndex(cell => cell.getId() === cellId);
  if (index < 0) {
    throw new ActionError('no_cell', `The notebook has no cell ${cellId}.`);
  }
  panel.content.activeCellIndex = index;
  await panel.content.scrollToItem(index, 'center').catch(() => undefined);
}
