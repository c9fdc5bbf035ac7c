/**
 * The bar above a notebook with changes: their number, actions on all of them, and navigation between them.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretUpIcon, closeIcon } from '@jupyterlab/ui-components';

import { formatSkipped } from './mark_words';
import type { NotebookReverted } from '../../protocol/wire';
import { IconButton } from '../../shared/icon_button';

interface ReviewBarProps {
  count: number;
  /** A turn is still working in the notebook. */
  isWorking: boolean;
  /** Whether any of them can be reverted. */
  canRevert: boolean;
  isBusy: boolean;
  outcome: NotebookReverted | null;
  problem: string | null;
  trans: TranslationBundle;
  keepAll: () => void;
  revertAll: () => void;
  next: () => void;
  previous: () => void;
  dismiss: () => void;
}

export function ReviewBar(props: ReviewBarProps): JSX.Element {
  const { count, isWorking, isBusy, outcome, problem, trans, keepAll, revertAll } = props;
  const told = problem ?? (outcome ? formatSkipped(outcome, trans).join(' ') : '');
  return (
    <>
      {count > 0 && (
        <>
          <span className="onyx-ReviewBar-words" data-onyx="review-count">
            {trans._n('%1 cell changed by Onyx', '%1 cells changed by Onyx', count)}
          </span>
          <button
            type="button"
            className="onyx-Link"
            data-onyx="keep-all"
            title={trans.__('Keep every change in this notebook')}
            disabled={isBusy}
            onClick={keepAll}
          >
            {trans.__('Keep all')}
          </button>
          <button
            type="button"
            className="onyx-Link"
            data-onyx="revert-all"
            title={
              isWorking
                ? trans.__('Onyx is still working on this turn. Stop it, or wait until it ends.')
                : trans.__('Put every changed cell of this notebook back; nothing is run')
            }
            disabled={isBusy || isWorking || !props.canRevert}
            onClick={revertAll}
          >
            {trans.__('Revert all')}
          </button>
          <span className="onyx-ReviewBar-steps">
            <IconButton
              icon={caretUpIcon}
              label={trans.__('Previous change')}
              hook="previous-change"
              onClick={props.previous}
            />
            <IconButton
              icon={caretDownIcon}
              label={trans.__('Next change')}
              hook="next-change"
              onClick={props.next}
            />
          </span>
        </>
      )}
      {told && (
        <span className="onyx-ReviewBar-told" role="status" data-onyx="review-told">
          <span title={told}>{told}</span>
          <IconButton
            icon={closeIcon}
            label={trans.__('Dismiss')}
            hook="review-dismiss"
            onClick={props.dismiss}
          />
        </span>
      )}
    </>
  );
}
