/** Lets the assistant work in the notebooks that are open in this tab, and reports these to the server. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookCellExecutor, INotebookTracker, runCell } from '@jupyterlab/notebook';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { notebookActions, openNotebooks } from './notebook_actions';
import type { OpenCell } from './notebook_actions';
import { NotebookBridge } from './notebook_bridge';
import { openCell, serverPath } from './notebook_open';
import { NotebookFront } from './notebook_front';
import { INotebookFront, IOnyxConnection } from '../../tokens';

/** Outputs that only this extension draws. */
const ONYX_MIME_PREFIX = 'application/vnd.onyx.';

/** Opens a notebook and brings one of its cells to the front. */
export const SHOW_CELL = 'onyx:show-cell';

export const notebookPlugin: JupyterFrontEndPlugin<INotebookFront> = {
  id: 'onyx-jupyter:notebook',
  description: 'Reads, edits and runs cells of open notebooks for the assistant.',
  autoStart: true,
  provides: INotebookFront,
  requires: [IOnyxConnection],
  optional: [INotebookTracker, INotebookCellExecutor, IRenderMimeRegistry, IDefaultFileBrowser],
  activate: (
    app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    tracker: INotebookTracker | null,
    executor: INotebookCellExecutor | null,
    rendermime: IRenderMimeRegistry | null,
    files: IDefaultFileBrowser | null
  ): INotebookFront => {
    const front = new NotebookFront(tracker);
    if (tracker) {
      const show: OpenCell = (path, cellId) => openCell(app, tracker, path, cellId);
      addShowCell(app, show);
      const actions = notebookActions(tracker, executor ?? { runCell }, show);
      const cards = () => (rendermime?.mimeTypes ?? []).filter(type => type.startsWith(ONYX_MIME_PREFIX));
      const folder = () => (files ? serverPath(files.model) : null);
      const bridge = new NotebookBridge(client, actions, () => openNotebooks(tracker), cards, folder);
      announceChanges(tracker, bridge);
      files?.model.pathChanged.connect(() => bridge.announce());
      void app.started.then(() => bridge.announce()); // by then every plugin has registered what it draws
    }
    return front;
  }
};

/** The command behind links to cells: `{ path, cellId }`. */
function addShowCell(app: JupyterFrontEnd, show: OpenCell): void {
  app.commands.addCommand(SHOW_CELL, {
    describedBy: {
      args: {
        type: 'object',
        properties: { path: { type: 'string' }, cellId: { type: 'string' } },
        required: ['path']
      }
    },
    execute: ({ path, cellId }) => show(String(path), cellId == null ? null : String(cellId))
  });
}

function announceChanges(tracker: INotebookTracker, bridge: NotebookBridge): void {
  const announce = () => bridge.announce();
  const follow = (panel: NotebookPanel) => {
    panel.context.pathChanged.connect(announce);
    panel.disposed.connect(announce);
  };
  tracker.forEach(follow);
  tracker.widgetAdded.connect((_, panel) => {
    follow(panel);
    announce();
  });
  tracker.currentChanged.connect(announce);
}
