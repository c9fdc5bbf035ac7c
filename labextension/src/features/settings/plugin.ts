/** The settings panel, and the command that opens it. */
import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, ICommandPalette, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IOnyxChat, IOnyxConnection, IOnyxRendering } from '../../tokens';
import { mainPanel, showPanel } from '../../shared/show_panel';
import { Agents } from './agents';
import { Providers } from './providers';
import { Settings } from './settings';
import { SettingsPanel } from './settings_panel';

/** With `provider`, that one is shown. */
export const SETTINGS_COMMAND = 'onyx:settings';
const ID = 'onyx-settings';

export const settingsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:settings',
  description: 'The model providers of Onyx, their keys, and which model does what.',
  autoStart: true,
  requires: [IOnyxConnection, IOnyxRendering],
  optional: [IOnyxChat, ITranslator, ICommandPalette, ILayoutRestorer, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    rendering: IOnyxRendering,
    chat: IOnyxChat | null,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const providers = new Providers(client);
    const settings = new Settings(client);
    const agents = new Agents(client);
    const tracker = new WidgetTracker<MainAreaWidget<SettingsPanel>>({ namespace: ID });
    const create = () => {
      const content = new SettingsPanel({
        ...{ providers, settings, agents },
        useModel: model => {
          chat?.model.chooseModel(model);
          chat?.reveal();
        },
        copyPath: () => void Clipboard.copyToSystem(settings.info?.file ?? ''),
        ui: { trans, rendering, insertCode: null, copy: text => Clipboard.copyToSystem(text) }
      });
      return mainPanel(ID, trans.__('Onyx settings'), content);
    };
    app.commands.addCommand(SETTINGS_COMMAND, {
      label: args => (args['isMenu'] ? trans.__('Settings…') : trans.__('Onyx: Settings')),
      caption: trans.__('Model providers, keys, and which model does what'),
      execute: async args => {
        await showPanel(app, labShell !== null, tracker, create, 'Onyx settings');
        if (typeof args['provider'] === 'string') {
          providers.select(args['provider']);
        }
      }
    });
    palette?.addItem({ command: SETTINGS_COMMAND, category: 'Onyx' });
    void restorer?.restore(tracker, { command: SETTINGS_COMMAND, name: () => ID });
  }
};
