/**
 * Onyx's own files in the left sidebar: workspaces, shared files, skills and executed copies, with Jupyter's
 * editors.
 */
import { ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IFileBrowserFactory, Uploader } from '@jupyterlab/filebrowser';
import type { FileBrowser } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ToolbarButton, fileIcon, newFolderIcon, refreshIcon } from '@jupyterlab/ui-components';

import { DRIVE_NAME, OnyxDrive, browserPath } from './onyx_drive';
import { Debounced } from '../../shared/debounce';
import type { SocketClient } from '../../protocol/socket_client';
import { IOnyxConnection } from '../../tokens';
import { onyxFilesIcon } from '../../shared/onyx_icon';

const Command = { show: 'onyx:open-workspace', openFile: 'onyx:open-file' };
const ID = 'onyx-files';
/** These events may create files. */
const CHANGES = new Set(['tool.finished', 'skills.run_started', 'skills.run_finished', 'skills.updated']);

/** The drive loads first and needs nothing, so that its notebooks are restored after a reload. */
export const drivePlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:drive',
  description: "Onyx's own files as a drive.",
  autoStart: true,
  activate: ({ serviceManager }: JupyterFrontEnd): void =>
    serviceManager.contents.addDrive(new OnyxDrive(serviceManager.serverSettings))
};

export const workspacePlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:workspace',
  description: "Onyx's own files in the left sidebar.",
  autoStart: true,
  requires: [IOnyxConnection],
  optional: [IFileBrowserFactory, ITranslator, ICommandPalette, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    factory: IFileBrowserFactory | null,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    addOpenFile(app, trans);
    if (!factory) {
      return;
    }
    const browser = createBrowser(factory, trans, translator ?? nullTranslator);
    app.shell.add(browser, 'left', { rank: 101, type: 'Onyx files' });
    restorer?.add(browser, ID);
    keepCurrent(browser, client);
    app.commands.addCommand(Command.show, {
      label: args => (args['isMenu'] ? trans.__('Show Onyx files') : trans.__('Onyx: Show files')),
      caption: trans.__('The agent’s workspace, shared files, skills and executed notebooks'),
      icon: args => (args['isMenu'] ? onyxFilesIcon : undefined),
      execute: async args => {
        app.shell.activateById(browser.id);
        if (typeof args['path'] === 'string') {
          await browser.model.cd(`/${args['path']}`);
        }
      }
    });
    palette?.addItem({ command: Command.show, category: 'Onyx' });
  }
};

/** Opens what a tool or a skill refers to by its own path. */
function addOpenFile(app: JupyterFrontEnd, trans: TranslationBundle): void {
  app.commands.addCommand(Command.openFile, {
    label: trans.__('Open file'),
    isVisible: () => false,
    execute: args => {
      const path = browserPath(String(args['path'] ?? ''), args['agentId'] as string | undefined);
      return path === null ? undefined : app.commands.execute('docmanager:open', { path });
    }
  });
}

function createBrowser(
  factory: IFileBrowserFactory,
  trans: TranslationBundle,
  translator: ITranslator
): FileBrowser {
  const browser = factory.createFileBrowser(ID, { driveName: DRIVE_NAME });
  browser.title.icon = onyxFilesIcon;
  browser.title.caption = trans.__('Onyx files');
  browser.node.setAttribute('role', 'region');
  browser.node.setAttribute('aria-label', trans.__('Onyx files'));
  browser.node.dataset.onyx = 'files';
  const isTop = () => browser.model.path === `${DRIVE_NAME}:`;
  const button = (icon: typeof fileIcon, tooltip: string, onClick: () => void) =>
    new ToolbarButton({ icon, tooltip, onClick });
  const making = [
    button(fileIcon, trans.__('New Markdown file'), () => void make(browser, 'file')),
    button(newFolderIcon, trans.__('New folder'), () => void make(browser, 'directory')),
    new Uploader({ model: browser.model, translator })
  ];
  making.forEach((widget, index) => browser.toolbar.addItem(`new-${index}`, widget));
  browser.toolbar.addItem(
    'refresh',
    button(refreshIcon, trans.__('Refresh'), () => void browser.model.refresh())
  );
  // Nothing can be created beside the folders of the drive.
  const follow = () => making.forEach(widget => (widget.enabled = !isTop()));
  browser.model.pathChanged.connect(follow);
  follow();
  return browser;
}

async function make(browser: FileBrowser, type: 'file' | 'directory'): Promise<void> {
  const { model } = browser;
  const made = await model.manager.newUntitled({
    path: model.path,
    type,
    ext: type === 'file' ? 'md' : undefined
  });
  await browser.selectItemByName(made.name);
  await browser.rename();
}

/** Shows the agent's changes at once, not only when the listing is next read. */
function keepCurrent(browser: FileBrowser, client: SocketClient): void {
  const refresh = new Debounced(() => {
    if (browser.isVisible && !browser.isDisposed) {
      void browser.model.refresh();
    }
  });
  client.event.connect((_, frame) => {
    if (CHANGES.has(frame.event)) {
      refresh.ask();
    }
  });
  browser.disposed.connect(() => refresh.dispose());
}
