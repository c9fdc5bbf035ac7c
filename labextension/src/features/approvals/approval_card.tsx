/**
 * A call waiting for approval: what, where, why, and the three answers. Keys work while the card has focus.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { useId, useLayoutEffect, useRef, useState } from 'react';
import type { MutableRefObject } from 'react';

import type { ApprovalScope } from '../chat/session';
import { withMarks } from '../../shared/visible_characters';
import type { ApprovalInfo } from '../../protocol/wire';
import { ApprovalDetails } from './approval_details';
import { Cautions } from './cautions';
import { onEnterSubmit } from '../../shared/hooks';
import { TimeLeft } from './time_left';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';
import { Words } from '../../shared/words';

export interface ApprovalActions {
  /** Approves the question as shown here, and no other version of it. */
  approve: (approvalId: string, scope: ApprovalScope, version: string) => Promise<void>;
  deny: (approvalId: string, reason: string) => Promise<void>;
}

interface ApprovalCardProps extends ApprovalActions {
  approval: ApprovalInfo;
  online: boolean;
  /** What the agent said just before it asked; not repeated here. */
  said: string;
  /** Whether the card replaces a draft: it keeps the draft's room so that nothing moves. */
  isDrafted?: boolean;
  /** Whether that draft had the keyboard focus. */
  hadFocus?: MutableRefObject<boolean>;
}

type Answer = ApprovalScope | 'deny';

export function ApprovalCard(props: ApprovalCardProps): JSX.Element {
  const { approval, online, said, isDrafted = false, hadFocus, approve, deny } = props;
  const { trans } = useUi();
  const titleId = useId();
  const card = useRef<HTMLDivElement>(null);
  const [answered, setAnswered] = useState<Answer | null>(null);
  const [isDenying, setIsDenying] = useState(false);
  const [problem, setProblem] = useState('');
  // Without a version this is the conversation's redacted copy, which cannot be approved.
  const { version } = approval;
  const closed = answered !== null || !online || !version;
  useLayoutEffect(() => {
    // Focus the code, not the card: a key pressed at this moment would count as an answer there.
    if (isDrafted && hadFocus?.current) {
      hadFocus.current = false;
      card.current?.querySelector<HTMLElement>('[data-onyx=diff]')?.focus({ preventScroll: true });
    }
  }, [isDrafted, hadFocus]);

  const answer = (what: Answer, reason = '') => {
    if (closed || !version) {
      return;
    }
    setAnswered(what);
    setProblem('');
    const sent =
      what === 'deny' ? deny(approval.approvalId, reason) : approve(approval.approvalId, what, version);
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

  const { mustAsk } = approval.details;
  const why = typeof approval.details.why === 'string' ? approval.details.why.trim() : '';
  return (
    <div
      ref={card}
      className={isDrafted ? 'onyx-Approval onyx-mod-drafted' : 'onyx-Approval'}
      data-onyx="approval"
      data-approval-id={approval.approvalId}
      role="group"
      aria-labelledby={titleId}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className="onyx-Approval-head">
        <span id={titleId} className="onyx-Approval-title">
          <VisibleText text={titleOf(approval, trans)} />
        </span>
        <TimeLeft
          expiresAt={approval.expiresAt}
          title={trans.__('If you don’t answer by then, it is denied.')}
        />
      </div>
      {why && !said.includes(why) && (
        <div className="onyx-Approval-why">
          <VisibleText text={why} />
        </div>
      )}
      {typeof mustAsk === 'string' && (
        <div className="onyx-Approval-must" data-onyx="must-ask">
          <VisibleText text={trans.__('Asked in every mode, because %1.', mustAsk)} />
        </div>
      )}
      <ApprovalDetails approval={approval} />
      <Cautions cautions={approval.details.cautions} />
      {isDenying ? (
        <DenyReason onDeny={reason => answer('deny', reason)} disabled={closed} />
      ) : (
        <Answers approval={approval} disabled={closed} answer={answer} onDeny={() => setIsDenying(true)} />
      )}
      {!online && (
        <div className="onyx-Approval-note">{trans.__('You can answer when the connection is back.')}</div>
      )}
      {online && !version && (
        <div className="onyx-Approval-note">{trans.__('Checking what would run now…')}</div>
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
  const { sessionScope, alwaysScope, canSession } = scopesOf(approval);
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
        {canSession && (
          <button
            type="button"
            className="onyx-Button"
            data-onyx="approve-session"
            title={withMarks(sessionScope)}
            aria-label={trans.__('Allow for this session')}
            disabled={disabled}
            onClick={() => answer('session')}
          >
            {trans.__('This session')}
          </button>
        )}
        {alwaysScope && (
          <button
            type="button"
            className="onyx-Button"
            data-onyx="approve-always"
            title={withMarks(alwaysScope)}
            aria-label={trans.__('Always allow')}
            disabled={disabled}
            onClick={() => answer('always')}
          >
            {trans.__('Always')}
          </button>
        )}
        <button type="button" className="onyx-Button" data-onyx="deny" disabled={disabled} onClick={onDeny}>
          {trans.__('Deny')}
          <kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
      <ScopeLines approval={approval} />
    </>
  );
}

/** The title leaves out what the details show in full. */
function titleOf({ toolName, summary }: ApprovalInfo, trans: TranslationBundle): string {
  switch (toolName) {
    case 'exec':
      return trans.__('Run this command');
    case 'web_search':
      return trans.__('Search the web');
    case 'web_fetch':
      return trans.__('Read this page');
    case 'http_fetch':
      return trans.__('Send this request');
    default:
      return summary;
  }
}

interface Scopes {
  sessionScope: string;
  alwaysScope: string;
  alwaysBlocked: string;
  /** Whether "this session" reaches beyond this one call. */
  canSession: boolean;
}

function scopesOf({ details }: ApprovalInfo): Scopes {
  const [sessionScope, alwaysScope, alwaysBlocked] = ['sessionScope', 'alwaysScope', 'alwaysBlocked'].map(
    key => (typeof details[key] === 'string' ? (details[key] as string) : '')
  );
  const canSession = !alwaysBlocked || sessionScope !== `only this once, because ${alwaysBlocked}`;
  return { sessionScope, alwaysScope, alwaysBlocked, canSession };
}

/** What each answer beyond "once" would mean; what both share is said once. */
function ScopeLines({ approval }: { approval: ApprovalInfo }): JSX.Element {
  const { trans } = useUi();
  const { sessionScope, alwaysScope, alwaysBlocked, canSession } = scopesOf(approval);
  const isSame = sessionScope !== '' && alwaysScope.startsWith(`${sessionScope}, `);
  const always = isSame ? trans.__('the same %1', alwaysScope.slice(sessionScope.length + 2)) : alwaysScope;
  return (
    <dl className="onyx-Scopes" data-onyx="scopes">
      {sessionScope && canSession && (
        <div data-onyx="session-scope">
          <dt>{trans.__('This session')}</dt>
          <dd>
            <Words text={sessionScope} />
          </dd>
        </div>
      )}
      {alwaysScope && (
        <div data-onyx="always-scope">
          <dt>{trans.__('Always')}</dt>
          <dd>
            <Words text={always} />
          </dd>
        </div>
      )}
      {!alwaysScope && alwaysBlocked && !approval.details.mustAsk && (
        <div data-onyx="always-blocked">
          <dt>{trans.__('Only once')}</dt>
          <dd>
            <VisibleText text={trans.__('because %1', alwaysBlocked)} />
          </dd>
        </div>
      )}
    </dl>
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
        onKeyDown={onEnterSubmit}
        onChange={event => setReason(event.target.value)}
      />
      <button type="submit" className="onyx-Button" data-onyx="deny-confirm" disabled={disabled}>
        {trans.__('Deny')}
      </button>
    </form>
  );
}
