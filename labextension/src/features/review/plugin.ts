/** Shows in open notebooks what turns changed there, and lets the user keep or revert it. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Session } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';

import { NotebookMarks } from './notebook_marks';
import { findNotebook, serverPath } from '../notebooks/notebook_open';
import { hasOwnKernel, holdsOnly } from '../notebooks/removed_notebook';
import type { SocketClient } from '../../protocol/socket_client';
import { IOnyxConnection } from '../../tokens';
import { MarkedNotebook } from './marked_notebook';
import { commandLabel } from '../../shared/command_label';
import { lazyDiff } from '../../shared/lazy_diff';

const Command = {
  next: 'onyx:next-change',
  previous: 'onyx:previous-change',
  keep: 'onyx:keep-change',
  revert: 'onyx:revert-change',
  diff: 'onyx:show-change',
  keepAll: 'onyx:keep-all-changes',
  revertAll: 'onyx:revert-all-changes'
};

/** Opens the notebook `path` at its first undecided change. */
export const REVIEW_COMMAND = 'onyx:review-changes';

export const reviewPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:review',
  description: 'Marks what Onyx changed in notebooks, with diff, keep and revert.',
  autoStart: true,
  requires: [IOnyxConnection, INotebookTracker],
  optional: [IEditorLanguageRegistry, ITranslator, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    tracker: INotebookTracker,
    languages: IEditorLanguageRegistry | null,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const marked = new Map<NotebookPanel, MarkedNotebook>();
    const mark = (panel: NotebookPanel) => {
      const marks = new NotebookMarks(client, () => serverPath(panel.context));
      const draw = lazyDiff(() => panel.content.codeMimetype, languages, trans);
      marked.set(panel, new MarkedNotebook(panel, marks, trans, draw));
      panel.disposed.connect(() => void marked.delete(panel));
    };
    tracker.forEach(mark);
    tracker.widgetAdded.connect((_, panel) => mark(panel));
    closeRemoved(client, tracker, app.serviceManager.sessions);
    addCommands(app, trans, () => {
      const panel = tracker.currentWidget;
      return (panel && marked.get(panel)) ?? null;
    });
    addReview(app, tracker, marked);
    Object.values(Command).forEach(command => palette?.addItem({ command, category: 'Onyx' }));
  }
};

/**
 * Closes a notebook whose file an undo removed, since its tab would only write it again. One that holds more
 * stays open, and a kernel that something else uses keeps running.
 */
function closeRemoved(client: SocketClient, tracker: INotebookTracker, sessions: Session.IManager): void {
  client.event.connect((_, frame) => {
    if (frame.event !== 'notebook.changes_updated' || !frame.data.removed) {
      return;
    }
    const { removedCells } = frame.data;
    tracker
      .filter(panel => {
        const known = removedCells?.[serverPath(panel.context)];
        const status = panel.sessionContext.session?.kernel?.status;
        return panel.context.isReady && holdsOnly(panel.context.model.sharedModel, known, status);
      })
      .forEach(panel => {
        const { session } = panel.sessionContext;
        if (session && hasOwnKernel(session, sessions.running())) {
          void panel.sessionContext.shutdown().catch(() => undefined);
        }
        panel.dispose();
      });
  });
}

function addCommands(
  app: JupyterFrontEnd,
  trans: TranslationBundle,
  current: () => MarkedNotebook | null
): void {
  const hasMarks = () => (current()?.shown.length ?? 0) > 0;
  const isAtMark = () => (current()?.active ?? null) !== null;
  const add = (
    id: string,
    label: string,
    isEnabled: () => boolean,
    execute: (notebook: MarkedNotebook) => unknown
  ) =>
    app.commands.addCommand(id, {
      label: commandLabel(label, trans),
      caption: label,
      isEnabled,
      execute: async () => {
        const notebook = current();
        if (notebook && isEnabled()) {
          await execute(notebook);
        }
      }
    });
  const cell = (notebook: MarkedNotebook) => notebook.active?.mark.cellId ?? '';
  add(Command.next, trans.__('Next change'), hasMarks, notebook => notebook.step(1));
  add(Command.previous, trans.__('Previous change'), hasMarks, notebook => notebook.step(-1));
  add(Command.keep, trans.__('Keep the change of this cell'), isAtMark, notebook =>
    notebook.marks.keep([cell(notebook)])
  );
  add(
    Command.revert,
    trans.__('Revert the change of this cell'),
    () => isAtMark() && !current()?.active?.isYours && !current()?.active?.mark.working,
    notebook => notebook.marks.revert([cell(notebook)])
  );
  add(Command.diff, trans.__('Show or hide what changed in this cell'), isAtMark, notebook =>
    notebook.toggleDiff(cell(notebook))
  );
  add(Command.keepAll, trans.__('Keep all changes in this notebook'), hasMarks, notebook =>
    notebook.marks.keep(null)
  );
  add(Command.revertAll, trans.__('Revert all changes in this notebook'), hasMarks, notebook =>
    notebook.marks.revert(null)
  );
}

/** The notebook in front, once it shows its cells; null if it opened elsewhere. */
async function openNotebook(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  path: string
): Promise<NotebookPanel | null> {
  await app.commands.execute('docmanager:open', { path });
  const panel = findNotebook(tracker, path) ?? null;
  await panel?.revealed;
  return panel;
}

/** The “Review” button below a turn: brings the notebook to the front, at its first change. */
function addReview(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  marked: ReadonlyMap<NotebookPanel, MarkedNotebook>
): void {
  app.commands.addCommand(REVIEW_COMMAND, {
    describedBy: { args: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } },
    execute: async args => {
      const panel = await openNotebook(app, tracker, String(args['path']));
      if (panel) {
        await marked.get(panel)?.first();
      }
    }
  });
}
