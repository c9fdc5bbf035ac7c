/** What went wrong: with what is shown, or with the user's last action. */
import { closeIcon } from '@jupyterlab/ui-components';

import { IconButton } from './icon_button';
import { useUi } from './ui_context';

interface ProblemNoteProps {
  /** null if there is none. */
  problem: string | null;
  again: () => void;
  hook: string;
}

/** Why something could not be read, with a way to try again. */
export function ProblemNote({ problem, again, hook }: ProblemNoteProps): JSX.Element | null {
  const { trans } = useUi();
  return problem ? (
    <div className="onyx-Problem" role="alert" data-onyx={hook}>
      <span>{problem}</span>
      <button type="button" className="onyx-Link" onClick={again}>
        {trans.__('Try again')}
      </button>
    </div>
  ) : null;
}

interface RefusalNoteProps {
  /** null if nothing was refused. */
  reason: string | null;
  dismiss: () => void;
  hook: string;
}

/** Why the user's last action failed, until it is dismissed or another action starts. */
export function RefusalNote({ reason, dismiss, hook }: RefusalNoteProps): JSX.Element | null {
  const { trans } = useUi();
  return reason === null ? null : (
    <div className="onyx-Problem onyx-Refusal" role="alert" data-onyx={hook}>
      <span>{reason}</span>
      <IconButton icon={closeIcon} label={trans.__('Dismiss')} hook="refusal-dismiss" onClick={dismiss} />
    </div>
  );
}
