/** Lets the assistant work in the notebooks that are open in this tab, and tells the server which those are. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookCellExecutor, INotebookTracker, runCell } from '@jupyterlab/notebook';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { notebookActions, openNotebooks } from '../models/notebook_actions';
import { NotebookBridge } from '../models/notebook_bridge';
import { NotebookFront } from '../models/notebook_front';
import { INotebookFront, IOnyxConnection } from '../tokens';

export const notebookPlugin: JupyterFrontEndPlugin<INotebookFront> = {
  id: 'onyx-jupyter:notebook',
  description: 'Reads, edits and runs cells of open notebooks for the assistant.',
  autoStart: true,
  provides: INotebookFront,
  requires: [IOnyxConnection],
  optional: [INotebookTracker, INotebookCellExecutor],
  activate: (
    _: JupyterFrontEnd,
    { client }: IOnyxConnection,
    tracker: INotebookTracker | null,
    executor: INotebookCellExecutor | null
  ): INotebookFront => {
    const front = new NotebookFront(tracker);
    if (tracker) {
      const actions = notebookActions(tracker, executor ?? { runCell });
      const bridge = new NotebookBridge(client, actions, () => openNotebooks(tracker));
      announceChanges(tracker, bridge);
    }
    return front;
  }
};

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
