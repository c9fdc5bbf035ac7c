/**
 * Shows the request and the answer of `%onyx` as a card in the cell's output, where its questions are
 * answered too.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CellTurn, TURN_MIME_TYPE } from './cell_turn';
import { pageServices } from '../chat/session';
import { CONSENT_MIME_TYPE, SkillConsent } from '../skills/skill_consent';
import { INotebookFront, IOnyxChat, IOnyxConnection, IOnyxRendering } from '../../tokens';
import { SkillConsentOutput } from '../skills/skill_consent_output';
import { TurnOutput } from './turn_output';
import { memoryOpener } from '../memory/plugin';

/** Before text/markdown, which comes along for all other front ends. */
const RANK = 10;

export const cellCardPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:cell-card',
  description: 'Shows the turns of %onyx in the cells that asked.',
  autoStart: true,
  requires: [IOnyxConnection, INotebookFront, IOnyxRendering, IRenderMimeRegistry],
  optional: [IOnyxChat, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    { client, events }: IOnyxConnection,
    front: INotebookFront,
    rendering: IOnyxRendering,
    rendermime: IRenderMimeRegistry,
    chat: IOnyxChat | null,
    translator: ITranslator | null
  ): void => {
    const services = pageServices({ client, events });
    const ui = {
      trans: (translator ?? nullTranslator).load('onyx_jupyter'),
      rendering,
      copy: (text: string) => Clipboard.copyToSystem(text),
      insertCode: (code: string) => front.insertCode(code),
      openMemory: memoryOpener(app, () => null)
    };
    const openSession =
      chat &&
      ((sessionKey: string) => {
        chat.model.openSession(sessionKey);
        app.shell.activateById(chat.sidebar.id);
      });
    rendermime.addFactory(
      {
        safe: true,
        mimeTypes: [TURN_MIME_TYPE],
        createRenderer: () => new TurnOutput({ turn: new CellTurn(services), ui, openSession })
      },
      RANK
    );
    rendermime.addFactory(
      {
        safe: true,
        mimeTypes: [CONSENT_MIME_TYPE],
        createRenderer: () => new SkillConsentOutput(new SkillConsent(client), ui)
      },
      RANK
    );
  }
};
