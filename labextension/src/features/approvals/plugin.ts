/**
 * Draws attention to what waits for an answer: a dot on the sidebar's icon, and a notification while it is
 * hidden.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { waitingCalls } from '../chat/conversation';
import type { ToolCall } from '../chat/conversation';
import { withMarks } from '../../shared/visible_characters';
import { IOnyxChat } from '../../tokens';

export const approvalsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:approvals',
  description: 'Shows that Onyx waits for an approval.',
  autoStart: true,
  requires: [IOnyxChat],
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, { model, sidebar }: IOnyxChat, translator: ITranslator | null): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const shown = new Map<string, string>();
    /** One notification for each call that waits out of sight, until it is answered or seen. */
    const notify = (unseen: readonly ToolCall[]) => {
      for (const [callId, notice] of [...shown]) {
        if (!unseen.some(call => call.callId === callId)) {
          shown.delete(callId);
          Notification.dismiss(notice);
        }
      }
      for (const { callId, approval, question } of unseen.filter(call => !shown.has(call.callId))) {
        const summary = withMarks(approval?.summary ?? question?.question ?? '');
        const notice = Notification.warning(trans.__('Onyx is waiting for you: %1', summary), {
          autoClose: false,
          actions: [{ label: trans.__('Review'), callback: () => app.shell.activateById(sidebar.id) }]
        });
        shown.set(callId, notice);
      }
    };
    const update = () => {
      const waiting = waitingCalls(model.session.items);
      sidebar.markWaiting(waiting.length);
      notify(sidebar.isVisible ? [] : waiting);
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
