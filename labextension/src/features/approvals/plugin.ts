/**
 * Draws attention to what waits for an answer: a dot on the sidebar's icon, and a notification while it is
 * hidden.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { waitingCalls } from '../chat/conversation';
import { WaitingNotices } from './waiting_notices';
import { IOnyxChat } from '../../tokens';

export const approvalsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:approvals',
  description: 'Shows that Onyx waits for an approval.',
  autoStart: true,
  requires: [IOnyxChat],
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, { model, sidebar }: IOnyxChat, translator: ITranslator | null): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const notices = new WaitingNotices({
      show: summary =>
        Notification.warning(trans.__('Onyx is waiting for you: %1', summary), {
          autoClose: false,
          actions: [{ label: trans.__('Review'), callback: () => app.shell.activateById(sidebar.id) }]
        }),
      dismiss: id => Notification.dismiss(id)
    });
    const update = () => {
      const waiting = waitingCalls(model.session.items);
      sidebar.markWaiting(waiting.length);
      notices.update(sidebar.isVisible ? [] : waiting);
    };
    const follow = () => {
      model.session.changed.connect(update);
      update();
    };
    model.sessionChanged.connect(follow);
    sidebar.visibilityChanged.connect(update);
    follow();
  }
};
