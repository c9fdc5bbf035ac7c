/** Shown instead of a conversation that could not be read: why, and what to do next. */
import { useUi } from '../../shared/ui_context';

interface SessionProblemProps {
  /** The server no longer has it, so reading it again is useless. */
  isGone: boolean;
  message: string;
  tryAgain: () => void;
  beginNew: () => void;
  showSessions: () => void;
}

export function SessionProblem(props: SessionProblemProps): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-List-frame">
      <div className="onyx-Problem" role="alert" data-onyx="session-problem">
        <span>{props.isGone ? trans.__('This conversation no longer exists.') : props.message}</span>
        {props.isGone && (
          <span className="onyx-Problem-hint">
            {trans.__('It was deleted, or this server keeps its conversations in another folder.')}
          </span>
        )}
        <div className="onyx-Problem-actions">
          {props.isGone ? (
            <>
              <Action label={trans.__('New session')} run={props.beginNew} />
              <Action label={trans.__('All sessions')} run={props.showSessions} />
            </>
          ) : (
            <Action label={trans.__('Try again')} run={props.tryAgain} />
          )}
        </div>
      </div>
    </div>
  );
}

function Action({ label, run }: { label: string; run: () => void }): JSX.Element {
  return (
    <button type="button" className="onyx-Link" onClick={run}>
      {label}
    </button>
  );
}
