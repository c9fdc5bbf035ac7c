/** One run of the agent: text and tool calls in order, and how it ended. */
import { memo, useCallback, useRef } from 'react';
import type { MutableRefObject, ReactNode } from 'react';

import { callsOf } from './conversation';
import type { Part, Problem, Run, UserMessage } from './conversation';
import { targetNotebook } from './target_notebook';
import type { TargetNotebook } from './target_notebook';
import { isPlanPart, planOf } from './plan';
import type { TurnState } from '../review/turn_changes';
import { AnswerText } from './answer_text';
import { ApprovalCard } from '../approvals/approval_card';
import type { ApprovalActions } from '../approvals/approval_card';
import { CellDraft } from './cell_draft';
import { NoteView } from './note_view';
import { PlanView } from './plan_view';
import { QuestionCard } from '../approvals/question_card';
import type { QuestionActions } from '../approvals/question_card';
import { ThoughtView } from './thought_view';
import { ToolCard } from './tool_card';
import { TurnFooter } from '../review/turn_footer';
import type { TurnActions } from '../review/turn_footer';
import { UsageLine } from '../usage/usage_line';
import { useUi } from '../../shared/ui_context';
import { MessageBody } from './user_message';

/** Not a failure: there is no model yet that could answer. */
const NO_MODEL = 'no_model';

interface RunViewProps extends ApprovalActions, QuestionActions {
  run: Run;
  /** The message that it answers, if known. */
  asked?: UserMessage;
  online: boolean;
  /** Whether a cell that it writes will need approval, as far as that is known. */
  asksForCells?: boolean;
  canRetry: boolean;
  retry: (run: Run) => void;
  /** What can be done below a failure if no model can answer now. */
  actions?: ReactNode;
  /** Whether the parent component shows the plan. */
  isPlanElsewhere?: boolean;
  /** What it did to notebooks, if known, and what can be done about it here. */
  changes?: TurnState;
  turnActions?: TurnActions;
}

export const RunView = memo(function RunView(props: RunViewProps): JSX.Element {
  const { run, online, canRetry, retry, actions, approve, deny, answer, changes, turnActions } = props;
  const { isPlanElsewhere = false, asksForCells = true } = props;
  const { trans } = useUi();
  const draftHadFocus = useRef(false);
  const notebookAt = useNotebookAt(run, props.asked);
  // While it works, the plan is pinned below; afterwards it appears where it was first made.
  const plan = run.status === 'running' || isPlanElsewhere ? null : planOf(run);
  const planAt = run.parts.findIndex(isPlanPart);
  return (
    <article
      className="onyx-Message onyx-mod-run"
      data-onyx="run"
      data-status={run.status}
      aria-busy={run.status === 'running'}
      hidden={isSilent(run)}
    >
      <h3 className="onyx-Message-who" title={run.model}>
        {trans.__('Onyx')}
      </h3>
      {run.parts.map((part, index) =>
        part.kind === 'said' ? (
          <Joined key={part.key} message={part.message} isContinued={isContinued(run, index)} />
        ) : isPlanPart(part) ? (
          plan && index === planAt && <PlanView key="plan" plan={plan} />
        ) : (
          <PartView
            key={part.key}
            part={part}
            said={textBefore(run, index)}
            complete={run.status !== 'running' || index < run.parts.length - 1}
            online={online}
            approve={approve}
            deny={deny}
            answer={answer}
            notebookAt={notebookAt}
            draftHadFocus={draftHadFocus}
          />
        )
      )}
      {!!run.draft && <CellDraft source={run.draft} isPending={asksForCells} hadFocus={draftHadFocus} />}
      <RunState run={run} canRetry={canRetry} retry={retry} actions={actions} />
      {run.usage && run.status !== 'running' && <UsageLine usage={run.usage} model={run.model} />}
      {changes && turnActions && run.status !== 'running' && (
        <TurnFooter state={changes} online={online} {...turnActions} />
      )}
    </article>
  );
});

/** What the user said during the run, in its place; the speaker below it is named again. */
function Joined({ message, isContinued }: { message: UserMessage; isContinued: boolean }): JSX.Element {
  const { trans } = useUi();
  return (
    <>
      <div
        className="onyx-Message onyx-mod-user onyx-mod-joined"
        data-onyx="user-message"
        data-delivery="sent"
        data-entry={message.id}
      >
        <MessageBody message={message} />
      </div>
      {isContinued && <h3 className="onyx-Message-who">{trans.__('Onyx')}</h3>}
    </>
  );
}

/** Whether Onyx itself says or does something right below this part. */
function isContinued(run: Run, index: number): boolean {
  const next = run.parts[index + 1];
  return next ? next.kind !== 'said' : run.status !== 'final';
}

interface PartViewProps extends ApprovalActions, QuestionActions {
  part: Exclude<Part, { kind: 'said' }>;
  said: string;
  complete: boolean;
  online: boolean;
  notebookAt: NotebookAt;
  draftHadFocus: MutableRefObject<boolean>;
}

const PartView = memo(function PartView({
  part,
  said,
  complete,
  online,
  approve,
  deny,
  answer,
  notebookAt,
  draftHadFocus
}: PartViewProps): JSX.Element {
  const { key } = part;
  const notebookOf = useCallback((words: string) => notebookAt(key, words), [notebookAt, key]);
  if (part.kind === 'text') {
    return <AnswerText text={part.text} complete={complete} entryId={part.entryId} notebookOf={notebookOf} />;
  }
  if (part.kind === 'note') {
    return <NoteView note={part.note} />;
  }
  if (part.kind === 'thought') {
    return <ThoughtView text={part.text} seconds={part.seconds} isThinking={!complete} />;
  }
  const { call } = part;
  if (call.status === 'waiting' && call.question) {
    return <QuestionCard question={call.question} online={online} answer={answer} />;
  }
  return call.status === 'waiting' && call.approval ? (
    <ApprovalCard
      approval={call.approval}
      said={said}
      isDrafted={call.isDrafted}
      hadFocus={draftHadFocus}
      online={online}
      approve={approve}
      deny={deny}
    />
  ) : (
    <ToolCard call={call} />
  );
});

/** The notebook that a part's words refer to. */
type NotebookAt = (partKey: string, words: string) => TargetNotebook | null;

/**
 * It stays the same object during the run so that no text is redrawn: what precedes a text doesn't change.
 */
function useNotebookAt(run: Run, asked: UserMessage | undefined): NotebookAt {
  const latest = useRef({ run, asked });
  latest.current = { run, asked };
  return useCallback(
    (partKey, words) => {
      const { parts } = latest.current.run;
      const at = parts.findIndex(part => part.key === partKey);
      return targetNotebook(latest.current.asked, parts.slice(0, at), words);
    },
    [asked?.context]
  );
}

/** The agent had nothing to say or do: that is not a failure, and there is nothing to show. */
function isSilent(run: Run): boolean {
  return run.status === 'final' && run.parts.every(part => part.kind === 'thought');
}

/** For an approval: the text right above it. */
function textBefore(run: Run, index: number): string {
  const part = run.parts[index].kind === 'tool' ? run.parts[index - 1] : undefined;
  return part?.kind === 'text' ? part.text : '';
}

function RunState({
  run,
  canRetry,
  retry,
  actions
}: Pick<RunViewProps, 'run' | 'canRetry' | 'retry' | 'actions'>): JSX.Element | null {
  const { trans } = useUi();
  const onRetry = canRetry ? () => retry(run) : undefined;
  switch (run.status) {
    case 'running':
      return <Working run={run} />;
    case 'error':
      return (
        <ProblemView
          problem={run.problem ?? { code: '', message: trans.__('The answer failed.') }}
          retry={onRetry}
          actions={actions}
        />
      );
    case 'interrupted': {
      const message = trans.__('The server stopped before this answer was finished.');
      return <ProblemView problem={{ code: 'interrupted', message }} retry={onRetry} />;
    }
    case 'aborted':
      return <div className="onyx-Note">{trans.__('Stopped')}</div>;
    default:
      return null;
  }
}

/**
 * Shown before the first word and between steps; streaming text, thoughts, cells and running calls show their
 * own activity.
 */
function Working({ run }: { run: Run }): JSX.Element | null {
  const { trans } = useUi();
  const last = run.parts[run.parts.length - 1];
  const busy = callsOf(run).some(call => call.status === 'running' || call.status === 'waiting');
  const streams =
    !!run.draft || last?.kind === 'text' || (last?.kind === 'thought' && last.seconds === undefined);
  if (busy || (streams && !run.notice)) {
    return null;
  }
  return (
    <div className="onyx-Note" role="status" data-onyx="working">
      <span className="onyx-Working" aria-hidden="true" />
      {run.notice ?? trans.__('Thinking')}
    </div>
  );
}

interface ProblemViewProps {
  problem: Problem;
  retry?: () => void;
  actions?: ReactNode;
}

function ProblemView({ problem, retry, actions }: ProblemViewProps): JSX.Element {
  const { trans } = useUi();
  const isNoModel = problem.code === NO_MODEL;
  return (
    <div
      className="onyx-Problem"
      role={isNoModel ? 'status' : 'alert'}
      data-onyx={isNoModel ? 'no-model' : 'run-problem'}
      data-code={problem.code}
    >
      <span>{problem.message}</span>
      {problem.hint && <span className="onyx-Problem-hint">{problem.hint}</span>}
      {actions}
      {retry && (
        <span className="onyx-Problem-actions">
          <button type="button" className="onyx-Link" data-onyx="retry" onClick={retry}>
            {trans.__('Try again')}
          </button>
        </span>
      )}
    </div>
  );
}
