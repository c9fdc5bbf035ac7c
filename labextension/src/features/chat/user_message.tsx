/** A user's message, its attachments, and whether it has been sent. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { historyIcon } from '@jupyterlab/ui-components';
import { memo } from 'react';

import type { UserMessage } from './conversation';
import { fileName } from '../../shared/short_text';
import { modeName, STANDARD_MODE } from '../composer/mode';
import { SentContext } from '../composer/sent_context';
import { useUi } from '../../shared/ui_context';

export interface UserMessageActions {
  resend: (message: UserMessage) => void;
  withdraw: (message: UserMessage) => void;
}

interface UserMessageViewProps extends UserMessageActions {
  message: UserMessage;
  /** Sent, but not yet read by the model: it joins the run above, waits for its end, or was left unread. */
  waits: Waits | null;
}

export type Waits = 'joins' | 'next' | 'left';

export const UserMessageView = memo(function UserMessageView(props: UserMessageViewProps): JSX.Element {
  const { message, waits, resend, withdraw } = props;
  const { trans } = useUi();
  return (
    <article
      className="onyx-Message onyx-mod-user"
      data-onyx="user-message"
      data-delivery={message.delivery}
      data-entry={message.id}
    >
      <MessageBody message={message} />
      {message.delivery === 'sending' && (
        <div className="onyx-Note">
          <span className="onyx-Working" aria-hidden="true" />
          {trans.__('Sending')}
        </div>
      )}
      {waits && (
        <div className="onyx-Note" data-onyx="waits" data-waits={waits}>
          {waitingText(waits, trans)}
        </div>
      )}
      {message.delivery === 'waiting' && (
        <div className="onyx-Note">
          <historyIcon.react tag="span" className="onyx-Icon" />
          {trans.__('Will be sent when the connection is back')}
          <button type="button" className="onyx-Link" onClick={() => withdraw(message)}>
            {trans.__('Take back')}
          </button>
        </div>
      )}
      {message.delivery === 'failed' && (
        <div className="onyx-Problem" role="alert" data-onyx="send-problem">
          <span>{message.problem?.message}</span>
          <span className="onyx-Problem-actions">
            <button type="button" className="onyx-Link" onClick={() => resend(message)}>
              {trans.__('Send again')}
            </button>
            <button type="button" className="onyx-Link" onClick={() => withdraw(message)}>
              {trans.__('Remove')}
            </button>
          </span>
        </div>
      )}
    </article>
  );
});

/** Who wrote it, its text, and its attachments. */
export function MessageBody({ message }: { message: UserMessage }): JSX.Element {
  const { trans } = useUi();
  return (
    <>
      <h3 className="onyx-Message-who" title={message.fromSession ?? message.fromNotebook}>
        {senderOf(message, trans)}
        {message.mode && message.mode !== STANDARD_MODE && (
          <span className="onyx-Tag" data-onyx="message-mode" data-mode={message.mode}>
            {modeName(message.mode, trans)}
          </span>
        )}
      </h3>
      <div className="onyx-Message-said">{textOf(message)}</div>
      {message.context.length > 0 && <SentContext items={message.context} />}
    </>
  );
}

/** A job's message begins with a line for the model, which says what the heading says here. */
function textOf({ fromJob, text }: UserMessage): string {
  return fromJob === undefined ? text : text.replace(/^\[SCHEDULED TASK - [^\]]*\]\n/, '');
}

function senderOf({ fromSession, fromNotebook, fromJob }: UserMessage, trans: TranslationBundle): string {
  if (fromSession) {
    return trans.__('Onyx, from another session');
  }
  if (fromJob !== undefined) {
    return fromJob ? trans.__('Scheduled: %1', fromJob) : trans.__('Heartbeat');
  }
  if (fromNotebook === undefined) {
    return trans.__('You');
  }
  return fromNotebook ? trans.__('You, in %1', fileName(fromNotebook)) : trans.__('You, in a cell');
}

function waitingText(waits: Waits, trans: TranslationBundle): string {
  switch (waits) {
    case 'joins':
      return trans.__('Joins after the current step');
    case 'next':
      return trans.__('Next, when the answer above is done');
    case 'left':
      return trans.__('Not read yet: attached to your next message');
  }
}
