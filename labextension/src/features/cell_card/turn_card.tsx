/** A turn below the cell that asked: live while it runs, folded to its answer afterwards. */
import { useId, useState } from 'react';

import type { StoredPart, StoredStep, StoredTurn } from './cell_turn';
import type { Run } from '../chat/conversation';
import { planOf } from '../chat/plan';
import { AnswerText } from '../chat/answer_text';
import type { ApprovalActions } from '../approvals/approval_card';
import { PlanView } from '../chat/plan_view';
import type { QuestionActions } from '../approvals/question_card';
import { RunView } from '../chat/run_view';
import { FoldLine } from '../../shared/fold_line';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

interface TurnCardProps extends ApprovalActions, QuestionActions {
  stored: StoredTurn;
  /** The run as the server has it, while the cell waits for it. */
  run: Run | null;
  /** Whether the run is being followed on the server. */
  isFollowed: boolean;
  online: boolean;
  /** Shows the session in the sidebar; null if there is none. */
  openSession: (() => void) | null;
}

export function TurnCard(props: TurnCardProps): JSX.Element {
  const { stored, run, isFollowed, online, openSession, approve, deny, answer } = props;
  const { trans } = useUi();
  const plan = run ? planOf(run) : stored.plan;
  return (
    <div
      className="onyx-CellTurn"
      data-onyx="cell-turn"
      data-status={run ? run.status : stored.status}
      // While there is something to answer, Enter and Escape belong to the card, not to the notebook.
      data-lm-suppress-shortcuts={run ? true : undefined}
    >
      {/* At the top in both states: what follows doesn't move it, and it stays open or closed. */}
      {plan && <PlanView plan={plan} />}
      {run ? (
        <RunView
          run={run}
          isPlanElsewhere
          online={online}
          canRetry={false}
          retry={() => undefined}
          approve={approve}
          deny={deny}
          answer={answer}
        />
      ) : (
        <Folded stored={stored} isFollowed={isFollowed} />
      )}
      {openSession && !run && (
        <button
          type="button"
          className="onyx-Link onyx-CellTurn-open"
          data-onyx="open-session"
          onClick={openSession}
        >
          {trans.__('Open in the sidebar')}
        </button>
      )}
    </div>
  );
}

/** The answer, below one line that sums up everything before it. */
function Folded({ stored, isFollowed }: { stored: StoredTurn; isFollowed: boolean }): JSX.Element {
  const { parts, status, problem } = stored;
  const last = parts[parts.length - 1];
  const answer = last?.kind === 'text' ? last.text : '';
  const before = answer ? parts.slice(0, -1) : parts;
  return (
    <>
      {before.length > 0 && <Steps parts={before} isOpenAtFirst={!answer} />}
      {answer && <AnswerText text={answer} complete />}
      <Ending status={status} problem={problem} isFollowed={isFollowed} />
    </>
  );
}

function Steps({
  parts,
  isOpenAtFirst
}: {
  parts: readonly StoredPart[];
  isOpenAtFirst: boolean;
}): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const bodyId = useId();
  const count = parts.filter(part => part.kind === 'step').length;
  return (
    <div className="onyx-Tool" data-onyx="turn-steps">
      <FoldLine {...{ isOpen, setIsOpen, bodyId }}>
        <span className="onyx-Tool-words">
          {count > 0 ? trans._n('%1 step', '%1 steps', count) : trans.__('Before that')}
        </span>
      </FoldLine>
      <div id={bodyId} hidden={!isOpen} className="onyx-Tool-body">
        {isOpen &&
          parts.map((part, index) =>
            part.kind === 'text' ? (
              <AnswerText key={index} text={part.text} complete />
            ) : (
              <StepLine key={index} step={part} />
            )
          )}
      </div>
    </div>
  );
}

function StepLine({ step }: { step: StoredStep }): JSX.Element {
  const { trans } = useUi();
  const marks: Record<string, string> = { ok: '✓', failed: '✗', denied: '⊘' };
  return (
    <div className="onyx-CellTurn-step" data-onyx="turn-step" data-status={step.status}>
      <span aria-hidden="true">{marks[step.status] ?? '–'}</span>
      <span>
        {step.verb}{' '}
        {step.isCode ? (
          <code>
            <VisibleText text={step.object} />
          </code>
        ) : (
          <VisibleText text={step.object} />
        )}
        {step.note && <span className="onyx-CellTurn-note"> · {step.note}</span>}
        {step.status === 'aborted' && <span className="onyx-CellTurn-note"> · {trans.__('stopped')}</span>}
      </span>
    </div>
  );
}

interface EndingProps {
  status: string;
  problem: string;
  isFollowed: boolean;
}

function Ending({ status, problem, isFollowed }: EndingProps): JSX.Element | null {
  const { trans } = useUi();
  switch (status) {
    case 'final':
      return null;
    case 'running':
      return isFollowed ? (
        <div className="onyx-Note" role="status">
          <span className="onyx-Working" aria-hidden="true" />
          {trans.__('Thinking')}
        </div>
      ) : (
        <div className="onyx-Note">{trans.__('This answer was unfinished when the notebook was saved.')}</div>
      );
    case 'aborted':
      return <div className="onyx-Note">{[trans.__('Stopped'), problem].filter(Boolean).join('. ')}</div>;
    default:
      return (
        <div className="onyx-Problem" role="alert" data-onyx="run-problem">
          {problem || trans.__('The server stopped before this answer was finished.')}
        </div>
      );
  }
}
