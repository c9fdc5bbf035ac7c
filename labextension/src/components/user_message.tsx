/** What a person said, what was sent along, and whether it has left. */
import { historyIcon } from '@jupyterlab/ui-components';
import { memo } from 'react';

import type { UserMessage } from '../models/conversation';
import { fileName } from '../models/tool_words';
import { useUi } from './ui_context';

export interface UserMessageActions {
  resend: (message: UserMessage) => void;
  withdraw: (message: UserMessage) => void;
}

interface UserMessageViewProps extends UserMessageActions {
  message: UserMessage;
  /** Sent, and behind another run. */
  queued: boolean;
}

export const UserMessageView = memo(function UserMessageView(props: UserMessageViewProps): JSX.Element {
  const { message, queued, resend, withdraw } = props;
  const { trans } = useUi();
  return (
    <article className="onyx-Message onyx-mod-user" data-onyx="user-message" data-delivery={message.delivery}>
      <h3 className="onyx-Message-who">{trans.__('You')}</h3>
      <div className="onyx-Message-said">{message.text}</div>
      {message.context.length > 0 && (
        <div className="onyx-Message-context">
          {message.context.map(item => (
            <span key={`${item.type}:${item.path}`} title={item.path}>
              {fileName(item.path)}
            </span>
          ))}
        </div>
      )}
      {message.delivery === 'sending' && (
        <div className="onyx-Note">
          <span className="onyx-Working" aria-hidden="true" />
          {trans.__('Sending')}
        </div>
      )}
      {queued && <div className="onyx-Note">{trans.__('Next, when the answer above is done')}</div>}
      {message.delivery === 'waiting' && (
        <div className="onyx-Note">
          <historyIcon.react tag="span" className="onyx-Icon" />
          {trans.__('Goes when the connection is back')}
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
