/** The conversation, which scrolls with new content only while the reader is at the end. */
import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';

import { asksAboutCells } from '../approvals/cell_questions';
import { isRequestOf, findRun, isActive, isRun } from './conversation';
import type { Conversation, Run, UserMessage } from './conversation';
import type { TurnState } from '../review/turn_changes';
import type { TurnRequest } from './view_state';
import type { ApprovalActions } from '../approvals/approval_card';
import type { QuestionActions } from '../approvals/question_card';
import { RunView } from './run_view';
import type { TurnActions } from '../review/turn_footer';
import { useUi } from '../../shared/ui_context';
import { UserMessageView } from './user_message';
import type { UserMessageActions, Waits } from './user_message';

/** Being closer to the end than this counts as being there. */
const NEAR_PX = 24;

interface MessageListProps extends ApprovalActions, QuestionActions, UserMessageActions {
  items: Conversation;
  online: boolean;
  retry: (run: Run) => void;
  /** What can be done if no model can answer now. */
  actions?: ReactNode;
  /** What runs did to notebooks. */
  turns: ReadonlyMap<string, TurnState>;
  turnActions: TurnActions;
  /** Incremented whenever the waiting approval should get the focus. */
  approvalFocusRequest: number;
  /** The turn to scroll to, once. */
  turnRequest?: TurnRequest | null;
}

export const MessageList = memo(function MessageList(props: MessageListProps): JSX.Element {
  const { items, online, retry, approve, deny, answer, resend, withdraw, approvalFocusRequest } = props;
  const { turns, turnActions, actions, turnRequest = null } = props;
  const { trans } = useUi();
  const { scroller, content, isAtEnd, toEnd, stopFollowing } = useFollow(items);
  useTurnRequest(turnRequest, items, content, stopFollowing);
  useEffect(() => {
    if (approvalFocusRequest > 0) {
      scroller.current?.querySelector<HTMLElement>('[data-onyx=approval], [data-onyx=question]')?.focus();
    }
  }, [approvalFocusRequest, scroller]);
  const running = items.some(isActive);
  const lastRun = items.filter(isRun).at(-1);
  return (
    <div className="onyx-List-frame">
      <div
        ref={scroller}
        className="onyx-List"
        data-onyx="messages"
        role="log"
        aria-label={trans.__('Conversation')}
        tabIndex={0}
      >
        <div ref={content} className="onyx-List-content">
          {items.map(item =>
            isRun(item) ? (
              <RunView
                key={item.key}
                run={item}
                asked={askedBy(item, items)}
                online={online}
                asksForCells={asksAboutCells(items, item)}
                canRetry={item === lastRun && !running}
                retry={retry}
                actions={item === lastRun && !running ? actions : undefined}
                changes={turns.get(item.runId)}
                turnActions={turnActions}
                approve={approve}
                deny={deny}
                answer={answer}
              />
            ) : (
              <UserMessageView
                key={item.key}
                message={item}
                waits={waitStateOf(item, items, running)}
                resend={resend}
                withdraw={withdraw}
              />
            )
          )}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="onyx-Pill" data-onyx="jump-to-end" onClick={toEnd}>
          {trans.__('↓ new')}
        </button>
      )}
    </div>
  );
});

function askedBy({ runId }: Run, items: Conversation): UserMessage | undefined {
  return items.find((item): item is UserMessage => isRequestOf(item, runId));
}

/** What a message waits for once the server has it; null if the model has read it. */
function waitStateOf(message: UserMessage, items: Conversation, running: boolean): Waits | null {
  if (message.delivery !== 'sent' || message.runId === undefined) {
    return null;
  }
  const run = findRun(items, message.runId);
  if (!message.steers) {
    return running && !run ? 'next' : null;
  }
  if (run && isActive(run)) {
    return 'joins';
  }
  const isLast = run !== undefined && !items.slice(items.indexOf(run) + 1).some(isRun);
  return isLast ? 'left' : null;
}

/** The requests already handled: coming back to a conversation doesn't repeat them. */
const handledRequests = new WeakSet<TurnRequest>();

/** Scrolls to a turn as soon as it exists, highlights it for a moment, and focuses it. */
function useTurnRequest(
  request: TurnRequest | null,
  items: Conversation,
  content: React.RefObject<HTMLDivElement>,
  stopFollowing: () => void
): void {
  useEffect(() => {
    if (!request || handledRequests.has(request)) {
      return;
    }
    const turn = content.current?.querySelector<HTMLElement>(`[data-entry="${CSS.escape(request.entryId)}"]`);
    if (turn) {
      handledRequests.add(request);
      stopFollowing();
      turn.tabIndex = -1;
      turn.focus({ preventScroll: true });
      turn.scrollIntoView({ block: 'center' });
      // Content out of sight has no real height until now.
      requestAnimationFrame(() => turn.scrollIntoView({ block: 'center' }));
      turn.classList.add('onyx-mod-found');
      turn.addEventListener('animationend', () => turn.classList.remove('onyx-mod-found'), { once: true });
    }
  }, [request, items, content, stopFollowing]);
}

/** Keeps the end in view while the reader is there; sending a message always scrolls there. */
function useFollow(items: Conversation) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    following.current = true;
    setIsAtEnd(true);
    const node = scroller.current;
    node?.scrollTo({ top: node.scrollHeight });
  }, []);
  useEffect(() => {
    const node = scroller.current!;
    let top = 0;
    const isNear = () => node.scrollHeight - node.scrollTop - node.clientHeight < NEAR_PX;
    // Only scrolling up counts as leaving: between two frames the end may also move away from a reader who
    // follows it.
    const onScroll = () => {
      if (isNear()) {
        following.current = true;
      } else if (node.scrollTop < top) {
        following.current = false;
      }
      top = node.scrollTop;
      setIsAtEnd(following.current);
    };
    const observer = new ResizeObserver(() => {
      if (following.current) {
        node.scrollTop = node.scrollHeight;
      } else {
        setIsAtEnd(isNear());
      }
    });
    node.addEventListener('scroll', onScroll, { passive: true });
    observer.observe(content.current!);
    observer.observe(node);
    return () => {
      node.removeEventListener('scroll', onScroll);
      observer.disconnect();
    };
  }, []);
  const last = items[items.length - 1];
  const lastSent = last?.kind === 'user' && last.delivery !== 'sent' ? last.key : '';
  useLayoutEffect(() => {
    if (lastSent) {
      toEnd();
    }
  }, [lastSent, toEnd]);
  const stopFollowing = useCallback(() => {
    following.current = false;
  }, []);
  return { scroller, content, isAtEnd, toEnd, stopFollowing };
}
