/** A call that waits for a person: what, where, why, and the three answers. Keys work while the card has the focus. */
import { useId, useRef, useState } from 'react';

import type { ApprovalInfo } from '../protocol/wire';
import { ApprovalDetails } from './approval_details';
import { useNow } from './hooks';
import { useUi } from './ui_context';

export interface ApprovalActions {
  approve: (approvalId: string, scope: 'once' | 'session') => Promise<void>;
  deny: (approvalId: string, reason: string) => Promise<void>;
}

interface ApprovalCardProps extends ApprovalActions {
  approval: ApprovalInfo;
  online: boolean;
  /** What the agent said just before it asked: not said twice. */
  said: string;
}

type Answer = 'once' | 'session' | 'deny';

export function ApprovalCard({ approval, online, said, approve, deny }: ApprovalCardProps): JSX.Element {
  const { trans } = useUi();
  const titleId = useId();
  const card = useRef<HTMLDivElement>(null);
  const [answered, setAnswered] = useState<Answer | null>(null);
  const [isDenying, setIsDenying] = useState(false);
  const [problem, setProblem] = useState('');
  const closed = answered !== null || !online;

  const answer = (what: Answer, reason = '') => {
    if (closed) {
      return;
    }
    setAnswered(what);
    setProblem('');
    const sent = what === 'deny' ? deny(approval.approvalId, reason) : approve(approval.approvalId, what);
    sent.catch((error: Error) => {
      setAnswered(null);
      setProblem(error.message);
    });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const onCard = event.target === card.current;
    if (event.key === 'Escape') {
      event.stopPropagation();
      setIsDenying(!isDenying);
      card.current?.focus();
    } else if (event.key === 'Enter' && onCard && !event.repeat) {
      event.preventDefault();
      answer('once');
    }
  };

  const why = typeof approval.details.why === 'string' ? approval.details.why.trim() : '';
  return (
    <div
      ref={card}
      className="onyx-Approval"
      data-onyx="approval"
      data-approval-id={approval.approvalId}
      role="group"
      aria-labelledby={titleId}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className="onyx-Approval-head">
        <span id={titleId} className="onyx-Approval-title">
          {approval.toolName === 'exec' ? trans.__('Run this command') : approval.summary}
        </span>
        <TimeLeft expiresAt={approval.expiresAt} />
      </div>
      {why && !said.includes(why) && <div className="onyx-Approval-why">{why}</div>}
      <ApprovalDetails approval={approval} />
      {isDenying ? (
        <DenyReason onDeny={reason => answer('deny', reason)} disabled={closed} />
      ) : (
        <Answers approval={approval} disabled={closed} answer={answer} onDeny={() => setIsDenying(true)} />
      )}
      {!online && (
        <div className="onyx-Approval-note">{trans.__('You can answer when the connection is back.')}</div>
      )}
      {problem && (
        <div className="onyx-Approval-note" role="alert">
          {problem}
        </div>
      )}
    </div>
  );
}

interface AnswersProps {
  approval: ApprovalInfo;
  disabled: boolean;
  answer: (what: Answer) => void;
  onDeny: () => void;
}

function Answers({ approval, disabled, answer, onDeny }: AnswersProps): JSX.Element {
  const { trans } = useUi();
  const scope = approval.details.sessionScope;
  const scopeText = typeof scope === 'string' ? scope : '';
  return (
    <>
      <div className="onyx-Approval-answers">
        <button
          type="button"
          className="onyx-Button onyx-mod-accept"
          data-onyx="approve-once"
          disabled={disabled}
          onClick={() => answer('once')}
        >
          {trans.__('Allow once')}
          <kbd aria-hidden="true">⏎</kbd>
        </button>
        <button
          type="button"
          className="onyx-Button"
          data-onyx="approve-session"
          title={scopeText}
          aria-label={trans.__('Allow for this session')}
          disabled={disabled}
          onClick={() => answer('session')}
        >
          {trans.__('This session')}
        </button>
        <button type="button" className="onyx-Button" data-onyx="deny" disabled={disabled} onClick={onDeny}>
          {trans.__('Deny')}
          <kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
      {scopeText && (
        <div className="onyx-Approval-scope" data-onyx="session-scope">
          {trans.__('This session allows %1.', scopeText)}
        </div>
      )}
    </>
  );
}

function DenyReason({
  onDeny,
  disabled
}: {
  onDeny: (reason: string) => void;
  disabled: boolean;
}): JSX.Element {
  const { trans } = useUi();
  const [reason, setReason] = useState('');
  return (
    <form
      className="onyx-Approval-deny"
      onSubmit={event => {
        event.preventDefault();
        onDeny(reason.trim());
      }}
    >
      <input
        autoFocus
        className="onyx-Input"
        data-onyx="deny-reason"
        value={reason}
        maxLength={2000}
        placeholder={trans.__('What should it do instead? (optional)')}
        aria-label={trans.__('Reason for denying')}
        onChange={event => setReason(event.target.value)}
      />
      <button type="submit" className="onyx-Button" data-onyx="deny-confirm" disabled={disabled}>
        {trans.__('Deny')}
      </button>
    </form>
  );
}

function TimeLeft({ expiresAt }: { expiresAt: string }): JSX.Element | null {
  const { trans } = useUi();
  const seconds = Math.max(0, Math.ceil((Date.parse(expiresAt) - useNow(1000)) / 1000));
  if (!Number.isFinite(seconds)) {
    return null;
  }
  const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <span className="onyx-Approval-time" title={trans.__('Without an answer by then it is denied.')}>
      {left}
    </span>
  );
}
