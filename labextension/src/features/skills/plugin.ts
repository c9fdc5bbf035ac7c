/** The skills panel, and the commands that open it. */
import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, ICommandPalette, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { SkillDraft } from './skill_draft';
import { SkillRuns } from './skill_runs';
import { Skills } from './skills';
import { INotebookFront, IOnyxConnection, IOnyxRendering } from '../../tokens';
import { onyxIcon } from '../../shared/onyx_icon';
import { SkillsPanel } from './skills_panel';
import { commandLabel } from '../../shared/command_label';
import { mainPanel, showPanel } from '../../shared/show_panel';

const Command = { open: 'onyx:skills', save: 'onyx:save-as-skill' };
/** From the workspace plugin. */
const OPEN_FILE = 'onyx:open-file';
const SHOW_FILES = 'onyx:open-workspace';
const ID = 'onyx-skills';

export const skillsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:skills',
  description: 'The Onyx skills in a panel.',
  autoStart: true,
  requires: [IOnyxConnection, INotebookFront, IOnyxRendering],
  optional: [ITranslator, ICommandPalette, ILauncher, ILayoutRestorer, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    front: INotebookFront,
    rendering: IOnyxRendering,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const skills = new Skills(client);
    const draft = new SkillDraft(client);
    const tracker = new WidgetTracker<MainAreaWidget<SkillsPanel>>({ namespace: ID });
    let runs: SkillRuns | null = null;
    const create = () => {
      runs ??= new SkillRuns(client);
      const content = new SkillsPanel({
        ...{ skills, runs, draft, front, contents: app.serviceManager.contents },
        openFolder: () => void app.commands.execute(SHOW_FILES),
        ui: {
          trans,
          rendering,
          insertCode: null,
          copy: text => Clipboard.copyToSystem(text),
          openFile: path => void app.commands.execute(OPEN_FILE, { path })
        }
      });
      return mainPanel(ID, trans.__('Skills'), content);
    };
    const open = () => showPanel(app, labShell !== null, tracker, create, 'Onyx skills');
    app.commands.addCommand(Command.open, {
      label: args =>
        args['isMenu'] || args['isLauncher'] ? trans.__('Onyx skills') : trans.__('Onyx: Skills'),
      caption: trans.__('What Onyx knows how to do: look, run, trust'),
      icon: args => (args['isMenu'] || args['isLauncher'] ? onyxIcon : undefined),
      execute: open
    });
    app.commands.addCommand(Command.save, {
      label: commandLabel(trans.__('Save notebook as skill…'), trans),
      caption: trans.__('Make a skill from the current notebook'),
      isEnabled: () => front.path !== null,
      execute: async () => {
        const { path } = front;
        if (path !== null) {
          await open();
          await draft.begin(path);
        }
      }
    });
    front.changed.connect(() => app.commands.notifyCommandChanged(Command.save));
    Object.values(Command).forEach(command => palette?.addItem({ command, category: 'Onyx' }));
    launcher?.add({ command: Command.open, args: { isLauncher: true }, rank: 3 });
    void restorer?.restore(tracker, { command: Command.open, name: () => ID });
  }
};
