/** The chat in the right sidebar, and the commands that open it. */
import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, ICommandPalette, Notification } from '@jupyterlab/apputils';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import { MenuSvg } from '@jupyterlab/ui-components';
import type { MimeData } from '@lumino/coreutils';

import { AgentOptions } from '../acp/agent_options';
import { ChatModel } from './chat_model';
import { asMarkdown } from '../sessions/export_markdown';
import { Grants } from '../approvals/grants';
import { draggedItems } from '../composer/dragged_items';
import { LocalModels } from '../local_models/local_models';
import { PageMentions } from '../composer/mention_sources';
import { ActionError } from '../notebooks/notebook_bridge';
import { findNotebook } from '../notebooks/notebook_open';
import { browserPath } from '../workspace/onyx_drive';
import { ProjectInstructions } from '../project/project_instructions';
import { SessionList } from '../sessions/session_list';
import { pageServices } from './session';
import { SidebarPanels } from './sidebar_panels';
import type { SidebarPanel } from './sidebar_panels';
import { ToolResults } from './tool_results';
import { TurnChanges } from '../review/turn_changes';
import { TabMemory, browserStore } from './tab_memory';
import { openTurn, ViewState } from './view_state';
import type { ContextItem } from '../../protocol/wire';
import { INotebookFront, IOnyxChat, IOnyxConnection, IOnyxRendering } from '../../tokens';
import { ChatSidebar } from './chat_sidebar';
import { onyxIcon } from '../../shared/onyx_icon';
import { IN_MENU, commandLabel } from '../../shared/command_label';
import { MEMORY_COMMAND, memoryOpener } from '../memory/plugin';
import { SHOW_CELL } from '../notebooks/plugin';
import { REVIEW_COMMAND } from '../review/plugin';

const Command = {
  open: 'onyx:open',
  newSession: 'onyx:new-session',
  focusInput: 'onyx:focus-input',
  review: 'onyx:review-approval',
  connectModel: 'onyx:connect-model',
  grants: 'onyx:allowed-for-good',
  project: 'onyx:project-instructions',
  localModels: 'onyx:local-models',
  copyConversation: 'onyx:copy-conversation',
  reload: 'onyx:reload-session'
};

/** From other plugins. */
const OPEN_FILE = 'onyx:open-file';
const FILES = 'onyx:open-workspace';
const SKILLS = 'onyx:skills';
const JOBS = 'onyx:jobs';
const SETTINGS = 'onyx:settings';

export const chatPlugin: JupyterFrontEndPlugin<IOnyxChat> = {
  id: 'onyx-jupyter:chat',
  description: 'The Onyx chat in the right sidebar.',
  autoStart: true,
  provides: IOnyxChat,
  requires: [IOnyxConnection, INotebookFront, IOnyxRendering],
  optional: [
    ITranslator,
    ICommandPalette,
    ILayoutRestorer,
    ILabShell,
    INotebookTracker,
    IEditorTracker,
    ILauncher
  ],
  activate: (
    app: JupyterFrontEnd,
    connection: IOnyxConnection,
    front: INotebookFront,
    rendering: IOnyxRendering,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null,
    notebooks: INotebookTracker | null,
    editors: IEditorTracker | null,
    launcher: ILauncher | null
  ): IOnyxChat => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const view = new ViewState();
    const panels = new SidebarPanels();
    const results = new ToolResults();
    const model = createModel(app, connection, front);
    const menu = new MenuSvg({ commands: app.commands });
    const mentions = new PageMentions({
      notebooks,
      editors,
      contents: app.serviceManager.contents,
      variables: path => variablesOf(connection, path),
      isEditorInFront: () => editors !== null && app.shell.currentWidget === editors.currentWidget,
      trans
    });
    const drop = {
      itemsOf: (mimeData: MimeData) => draggedItems(mimeData, notebooks, trans),
      selection: () => mentions.selection(),
      add: (items: readonly ContextItem[]) => {
        items.forEach(item => model.chips.add(item));
        view.focusInput();
      }
    };
    // The agent's `onyx:` paths are folders of the drive.
    const opened = (path: string) => browserPath(path, model.session.info?.agentId);
    const project = new ProjectInstructions(connection.client);
    const localModels = new LocalModels(connection.client, () => void connection.assistant.refresh());
    const sidebar = new ChatSidebar(
      {
        chat: model,
        assistant: connection.assistant,
        client: connection.client,
        sessions: new SessionList(connection.client),
        grants: new Grants(connection.client),
        project,
        localModels,
        agentOptions: new AgentOptions(connection.client, () => model.session.key),
        front,
        turns: turnsOf(model, connection),
        review: path => void review(app, path),
        view,
        panels,
        mentions,
        ui: {
          trans,
          rendering,
          copy: text => Clipboard.copyToSystem(text),
          showCell: notebooks
            ? (path, cell) => void showCell(app, notebooks, opened(path) ?? path, cell, trans)
            : undefined,
          openFile: path => void app.commands.execute(OPEN_FILE, { path: opened(path) ?? '' }),
          openMemory: memoryOpener(app, () => model.session.info?.agentId),
          toolResult: call => results.show(call)
        },
        reachability: () => connection.rest.reachability(),
        openMenu: (x, y) => menu.open(x, y),
        showSkills: () => void app.commands.execute(SKILLS),
        openSettings: () => void app.commands.execute(SETTINGS)
      },
      trans,
      drop
    );
    void project.open();
    void localModels.open();
    sidebar.visibilityChanged.connect(() => void (sidebar.isVisible && project.load()));
    const activate = () => app.shell.activateById(sidebar.id);
    addCommands(app, trans, model, view, activate);
    [MEMORY_COMMAND, SKILLS, JOBS, FILES].forEach(command => menu.addItem({ command, args: IN_MENU }));
    menu.addItem({ type: 'separator' });
    [
      Command.connectModel,
      Command.localModels,
      Command.grants,
      Command.project,
      Command.copyConversation,
      Command.reload
    ].forEach(command => menu.addItem({ command, args: IN_MENU }));
    Object.values(Command).forEach(command => palette?.addItem({ command, category: 'Onyx' }));
    panels.added.connect((_, panel) => {
      const command = addPanelCommand(app, trans, panel, view, activate);
      menu.addItem({ command, args: IN_MENU });
      palette?.addItem({ command, category: 'Onyx' });
    });
    // Without a category it appears among JupyterLab's own, beside the terminal.
    launcher?.add({ command: Command.newSession, args: { isLauncher: true }, rank: 1 });
    restorer?.add(sidebar, sidebar.id);
    app.shell.add(sidebar, 'right', { rank: 100, type: 'Onyx' });
    void labShell?.restored.then(layout => openOnFirstVisit(layout, sidebar.id, labShell));
    const reveal = ({ focusInput = false } = {}) => {
      activate();
      if (focusInput) {
        view.focusInput();
      } else {
        view.show('conversation');
      }
    };
    const revealTurn = (sessionKey: string, entryId: string) => {
      activate();
      openTurn(model, view, sessionKey, entryId);
    };
    return { model, sidebar, panels, results, reveal, revealTurn };
  }
};

/**
 * Shows a cell by its id, or by its current place, counted from 1, and says so if it is missing. A notebook
 * that opens elsewhere, as in Notebook 7, is left alone.
 */
async function showCell(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker,
  path: string,
  cell: string | number,
  trans: TranslationBundle
): Promise<void> {
  const show = (cellId?: string) => app.commands.execute(SHOW_CELL, { path, cellId });
  const notify = (words: string) => Notification.info(words, { autoClose: 4000 });
  try {
    if (typeof cell === 'string') {
      await show(cell);
      return;
    }
    await show();
    const { cells } = findNotebook(notebooks, path)!.context.model.sharedModel;
    if (cell <= cells.length) {
      await show(cells[cell - 1].getId());
    } else {
      notify(trans.__('%1 has no cell %2.', path, cell));
    }
  } catch (error) {
    const code = error instanceof ActionError ? error.code : null;
    if (code === 'no_cell') {
      notify(trans.__('%1 no longer has this cell.', path));
    } else if (code !== 'not_open') {
      notify(trans.__('%1 could not be shown. It may have been renamed or removed.', path));
    }
  }
}

/** Opens the chat the first time a user opens JupyterLab; afterwards their own layout counts. */
function openOnFirstVisit(layout: ILabShell.ILayout, id: string, shell: ILabShell): void {
  if (layout.fresh) {
    shell.activateById(id);
  }
}

function createModel(app: JupyterFrontEnd, connection: IOnyxConnection, front: INotebookFront): ChatModel {
  const prefix = `onyx:${app.serviceManager.serverSettings.baseUrl}:`;
  const memory = new TabMemory(prefix, browserStore('sessionStorage'), browserStore('localStorage'));
  const { assistant } = connection;
  return new ChatModel(
    pageServices(connection),
    memory,
    front,
    () => assistant.modes,
    () => assistant.agent?.model ?? null
  );
}

/** What the turns of the current session did to notebooks. */
function turnsOf(model: ChatModel, { client }: IOnyxConnection): TurnChanges {
  const turns = new TurnChanges(client);
  const follow = () => {
    turns.follow(model.session.key);
    model.session.created.connect((_, key) => turns.follow(key));
  };
  model.sessionChanged.connect(follow);
  follow();
  return turns;
}

/** Goes to the first change if this page shows notebooks; otherwise only opens the notebook. */
async function review(app: JupyterFrontEnd, path: string): Promise<void> {
  const command = app.commands.hasCommand(REVIEW_COMMAND) ? REVIEW_COMMAND : 'docmanager:open';
  await app.commands.execute(command, { path });
}

function addCommands(
  app: JupyterFrontEnd,
  trans: TranslationBundle,
  model: ChatModel,
  view: ViewState,
  activate: () => void
): void {
  const add = (id: string, label: string, execute: () => void) => {
    const named = commandLabel(label, trans);
    app.commands.addCommand(id, {
      label: args => (args['isLauncher'] ? trans.__('Onyx chat') : named(args)),
      caption: args => (args['isLauncher'] ? trans.__('Start a conversation about your notebooks') : label),
      icon: args => (args['isLauncher'] || id === Command.open ? onyxIcon : undefined),
      execute: () => {
        activate();
        execute();
      }
    });
  };
  add(Command.open, trans.__('Open chat'), () => view.focusInput());
  add(Command.focusInput, trans.__('Focus input'), () => view.focusInput());
  add(Command.review, trans.__('Review the waiting request'), () => view.focusApproval());
  add(Command.newSession, trans.__('New session'), () => {
    model.openSession(null);
    view.focusInput();
  });
  add(Command.connectModel, trans.__('Connect a model…'), () => void app.commands.execute(SETTINGS));
  add(Command.localModels, trans.__('Local models…'), () => view.show('local'));
  add(Command.grants, trans.__('Always allowed…'), () => view.show('grants'));
  add(Command.project, trans.__('Project instructions…'), () => view.show('project'));
  add(Command.copyConversation, trans.__('Copy conversation as Markdown'), () =>
    Clipboard.copyToSystem(asMarkdown(model.session.items))
  );
  add(Command.reload, trans.__('Reload session'), () => void model.session.reload());
}

/** Adds the command that shows a feature's panel, by its id. */
function addPanelCommand(
  app: JupyterFrontEnd,
  trans: TranslationBundle,
  panel: SidebarPanel,
  view: ViewState,
  activate: () => void
): string {
  const id = panel.command ?? `onyx:panel-${panel.id}`;
  app.commands.addCommand(id, {
    label: commandLabel(panel.label, trans),
    execute: () => {
      activate();
      view.show(`feature:${panel.id}`);
    }
  });
  return id;
}

/** The names in a notebook's kernel, data first; none if it cannot be asked. */
async function variablesOf(
  { client }: IOnyxConnection,
  path: string
): Promise<ReadonlyArray<{ name: string; detail: string }>> {
  const { variables } = await client.request('kernel.variables', { path });
  return variables.map(({ name, type, summary }) => ({ name, detail: summary || type }));
}
