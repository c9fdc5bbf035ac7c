/** The usage panel of the sidebar, and the command that opens it. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IOnyxChat, IOnyxConnection } from '../../tokens';
import { Usage } from './usage';
import { UsagePanel } from './usage_panel';

export const USAGE_COMMAND = 'onyx:usage';

export const usagePlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:usage',
  description: 'What models used and cost, in a panel of the sidebar.',
  autoStart: true,
  requires: [IOnyxConnection, IOnyxChat],
  optional: [ITranslator],
  activate: (
    _app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    { model, panels }: IOnyxChat,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const usage = new Usage(client, () => model.session.key);
    panels.add({
      id: 'usage',
      command: USAGE_COMMAND,
      label: trans.__('Usage…'),
      render: close => <UsagePanel {...{ usage, close }} />
    });
  }
};
