/** The memory panel, and the commands that open it. */
import { ILabShell, ILabStatus, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  Clipboard,
  ICommandPalette,
  MainAreaWidget,
  Notification,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { memoryFound } from './memory_results';
import type { Citation } from '../../shared/citations';
import { Documents } from '../documents/documents';
import type { RemovedDocument } from '../documents/documents';
import { MemoryFile } from './memory_file';
import type { Restored } from './memory_file';
import { MemoryFiles } from './memory_files';
import { MemorySearch } from './memory_search';
import { memoryDrivePath } from '../workspace/onyx_drive';
import { SessionTitles } from '../sessions/session_titles';
import { Uploads } from '../documents/uploads';
import { IOnyxChat, IOnyxConnection, IOnyxRendering } from '../../tokens';
import { MemoryPanel } from './memory_panel';
import { onyxIcon } from '../../shared/onyx_icon';
import { lazyDiff } from '../../shared/lazy_diff';
import { mainPanel, showPanel } from '../../shared/show_panel';
import { watchUploads } from '../documents/upload_notices';

/** With `path`, and `startLine` and `endLine` or a `fact`'s id if known, it opens there. */
export const MEMORY_COMMAND = 'onyx:memory';

/** From the workspace plugin. */
const OPEN_FILE = 'onyx:open-file';
/** From JupyterLab: shows a folder, opens a file. */
const OPEN_PATH = 'filebrowser:open-path';
const ID = 'onyx-memory';
const MARKDOWN = 'text/x-ipythongfm';
const UNDO_MS = 15_000;

export const memoryPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:memory',
  description: 'What Onyx remembers in a panel.',
  autoStart: true,
  requires: [IOnyxConnection, IOnyxRendering],
  optional: [
    ...[IOnyxChat, IEditorLanguageRegistry, ITranslator, ICommandPalette, ILauncher, ILayoutRestorer],
    ...[ILabShell, ILabStatus]
  ],
  activate: (
    app: JupyterFrontEnd,
    { client, rest }: IOnyxConnection,
    rendering: IOnyxRendering,
    chat: IOnyxChat | null,
    languages: IEditorLanguageRegistry | null,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null,
    status: ILabStatus | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    chat?.results.add('memory_search', memoryFound);
    const tracker = new WidgetTracker<MainAreaWidget<MemoryPanel>>({ namespace: ID });
    // Closing the panel cancels none of them.
    const uploads = new Uploads((file, signal) => rest.uploadDocument(file, signal));
    watchUploads(uploads, {
      isShown: () => tracker.find(panel => panel.isVisible) !== undefined,
      show: () => void app.commands.execute(MEMORY_COMMAND),
      ...{ status, trans }
    });
    const create = () => {
      const files = new MemoryFiles(client);
      const file = new MemoryFile(client);
      file.restored.connect((_, restored) => notifyRestored(restored, trans));
      file.changed.connect(() => void tracker.save(panel));
      const documents = new Documents(client, uploads);
      documents.removed.connect((_, removed) => notifyRemoved(removed, trans));
      const content = new MemoryPanel({
        ...{ files, file, documents, titles: new SessionTitles(client) },
        search: new MemorySearch(
          client,
          () => files.agentId,
          () => files.agents.find(agent => agent.default && files.agents.length > 1)?.id ?? null
        ),
        drawDiff: lazyDiff(() => MARKDOWN, languages, trans),
        openEditor: (path, agentId) =>
          void app.commands.execute(OPEN_FILE, { path: memoryDrivePath(path, agentId) }),
        openDocument: path => void app.commands.execute(openerOf(app, path), { path }),
        openSession: chat
          ? (sessionKey, entryId) => {
              if (entryId) {
                chat.revealTurn(sessionKey, entryId);
              } else {
                chat.model.openSession(sessionKey);
                chat.reveal();
              }
            }
          : null,
        ui: {
          trans,
          rendering,
          insertCode: null,
          copy: text => Clipboard.copyToSystem(text),
          openFile: path => void app.commands.execute(OPEN_FILE, { path }),
          openMemory: citation => file.open({ ...citation, agentId: files.agentId })
        }
      });
      const panel = mainPanel(ID, trans.__('Memory'), content);
      return panel;
    };
    app.commands.addCommand(MEMORY_COMMAND, {
      label: args =>
        args['isMenu'] || args['isLauncher'] ? trans.__('Onyx memory') : trans.__('Onyx: Open memory'),
      caption: trans.__('What Onyx remembers: read, search, compare, restore'),
      icon: args => (args['isMenu'] || args['isLauncher'] ? onyxIcon : undefined),
      execute: async args => {
        const panel = await showPanel(app, labShell !== null, tracker, create, 'Onyx memory');
        if (typeof args['path'] === 'string') {
          panel.content.open(
            { path: args['path'], lines: linesIn(args), fact: textIn(args, 'fact') },
            agentIn(args)
          );
        }
      }
    });
    palette?.addItem({ command: MEMORY_COMMAND, category: 'Onyx' });
    launcher?.add({ command: MEMORY_COMMAND, args: { isLauncher: true }, rank: 2 });
    void restorer?.restore(tracker, {
      command: MEMORY_COMMAND,
      name: () => ID,
      args: ({ content }) => content.restoreArgs()
    });
  }
};

/** Opens lines of memory from elsewhere, such as from a citation. */
export function memoryOpener(
  app: JupyterFrontEnd,
  agentId: () => string | null | undefined
): (citation: Citation) => void {
  return ({ path, lines, fact }) =>
    void app.commands.execute(MEMORY_COMMAND, {
      path,
      ...(lines ? { startLine: lines[0], endLine: lines[1] } : {}),
      ...(fact ? { fact } : {}),
      agentId: agentId() ?? null
    });
}

function linesIn(args: ReadonlyPartialJSONObject): readonly [number, number] | undefined {
  const { startLine, endLine } = args;
  return typeof startLine === 'number' && typeof endLine === 'number' ? [startLine, endLine] : undefined;
}

function agentIn(args: ReadonlyPartialJSONObject): string | null {
  return textIn(args, 'agentId') ?? null;
}

function textIn(args: ReadonlyPartialJSONObject, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}

function notifyRestored({ place, version, undo }: Restored, trans: TranslationBundle): void {
  const said = trans.__('%1 was restored to version %2.', place.path, version.version);
  const action = undo && {
    label: trans.__('Undo'),
    callback: () =>
      void undo().then(
        () =>
          Notification.success(trans.__('%1 is back to its previous state.', place.path), {
            autoClose: 4000
          }),
        (error: Error) => Notification.error(error.message)
      )
  };
  Notification.success(said, { autoClose: UNDO_MS, actions: action ? [action] : [] });
}

/** Files on a drive are opened like the agent's files. */
function openerOf(app: JupyterFrontEnd, path: string): string {
  return app.commands.hasCommand(OPEN_PATH) && !path.includes(':') ? OPEN_PATH : OPEN_FILE;
}

function notifyRemoved({ item, undo }: RemovedDocument, trans: TranslationBundle): void {
  const again = () =>
    void undo().then(
      () => Notification.success(trans.__('Onyx reads “%1” again.', item.title), { autoClose: 4000 }),
      (error: Error) => Notification.error(error.message)
    );
  Notification.success(trans.__('Onyx no longer searches “%1”.', item.title), {
    autoClose: UNDO_MS,
    actions: [{ label: trans.__('Undo'), callback: again }]
  });
}
