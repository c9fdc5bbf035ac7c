/** Below a turn that changed notebooks: how much changed, and buttons to review and undo it. */
import { memo } from 'react';

import { formatSkipped, formatNotebooks, formatTurn } from './mark_words';
import type { TurnState } from './turn_changes';
import { useUi } from '../../shared/ui_context';

export interface TurnActions {
  /** Opens the notebook at the first change. */
  review: (path: string) => void;
  undo: (runId: string) => void;
  putBack: (runId: string) => void;
}

interface TurnFooterProps extends TurnActions {
  state: TurnState;
  online: boolean;
}

export const TurnFooter = memo(function TurnFooter(props: TurnFooterProps): JSX.Element | null {
  const { state, online, review, undo, putBack } = props;
  const { trans } = useUi();
  const { turn, isBusy, outcome, problem } = state;
  if (turn.cells + turn.ran + turn.created.length === 0) {
    return null;
  }
  const canUndo = turn.standing > 0 || (!turn.undone && turn.created.length > 0);
  const undoWords = turn.undone ? trans.__('Undo the rest') : trans.__('Undo this turn');
  const changed = turn.notebooks.find(notebook => notebook.cells > 0);
  const told = outcome ? [...formatNotebooks(outcome, trans), ...formatSkipped(outcome, trans)] : [];
  return (
    <footer className="onyx-TurnChanges" data-onyx="turn-changes" data-undone={turn.undone}>
      <span className="onyx-TurnChanges-words">
        {turn.undone ? (canUndo ? trans.__('Undone in part') : trans.__('Undone')) : formatTurn(turn, trans)}
        {!turn.undone && !canUndo && <> · {trans.__('reverted')}</>}
      </span>
      {changed && turn.pending > 0 && !turn.undone && (
        <button
          type="button"
          className="onyx-Link"
          data-onyx="turn-review"
          title={turn.notebooks.map(notebook => notebook.path).join('\n')}
          onClick={() => review(changed.path)}
        >
          {trans.__('Review')}
        </button>
      )}
      {canUndo && (
        <button
          type="button"
          className="onyx-Link"
          data-onyx="turn-undo"
          title={trans.__('Put the notebooks back as they were before this turn; nothing is run')}
          disabled={!online || isBusy}
          onClick={() => undo(turn.runId)}
        >
          {isBusy && !turn.undone ? trans.__('Undoing…') : undoWords}
        </button>
      )}
      {turn.undone && (
        <button
          type="button"
          className="onyx-Link"
          data-onyx="turn-put-back"
          title={trans.__('Take the undo back')}
          disabled={!online || isBusy}
          onClick={() => putBack(turn.runId)}
        >
          {trans.__('Put back')}
        </button>
      )}
      {(told.length > 0 || problem) && (
        <div className="onyx-TurnChanges-told" role="status" data-onyx="turn-told">
          {problem ?? told.join(' ')}
        </div>
      )}
    </footer>
  );
});
