/**
 * What a changed cell shows above its text: what the agent did, the diff on hover or click, keep and revert.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { caretRightIcon, checkIcon, undoIcon } from '@jupyterlab/ui-components';
import { useId } from 'react';

import { formatMark, lockedReason } from './mark_words';
import type { ShownMark } from './shown_marks';
import { DiffPeek, usePeek } from '../../shared/diff_peek';
import { DrawnDiff } from '../../shared/drawn_diff';
import type { DrawDiff } from '../../shared/drawn_diff';

export interface CellMarkViewProps {
  shown: ShownMark;
  /** The cell's current text; null for a deleted cell. */
  source: string | null;
  /** The previous place of a moved cell, in words. */
  from: string;
  isOpen: boolean;
  isBusy: boolean;
  trans: TranslationBundle;
  drawDiff: DrawDiff;
  toggle: () => void;
  keep: () => void;
  revert: () => void;
}

export function CellMarkView(props: CellMarkViewProps): JSX.Element {
  const { shown, isOpen, isBusy, trans, toggle, keep, revert } = props;
  const bodyId = useId();
  const isDeleted = shown.kind === 'deleted';
  const hasDiff = isDeleted || shown.kind === 'edited';
  const refusal = lockedReason(shown, trans);
  const peek = usePeek(!hasDiff || isOpen);
  const diff = (hook: string) => (
    <DrawnDiff
      before={shown.mark.before?.source ?? ''}
      after={props.source}
      draw={props.drawDiff}
      hook={hook}
      trans={trans}
    />
  );
  const words = (
    <>
      <strong>{trans.__('Onyx')}</strong>
      {formatMark(shown, props.from, trans).map((part, index) => (
        <span key={index}>
          {isDeleted ? ' ' : ' · '}
          {part}
        </span>
      ))}
    </>
  );
  return (
    <>
      <div className="onyx-CellMark-line" role="group" aria-label={trans.__('Change by Onyx')}>
        {hasDiff ? (
          <button
            ref={peek.anchor}
            type="button"
            className="onyx-CellMark-words"
            data-onyx="mark-diff-toggle"
            aria-expanded={isOpen}
            aria-controls={bodyId}
            onPointerEnter={peek.enter}
            onPointerLeave={peek.leave}
            onFocus={peek.focus}
            onBlur={peek.close}
            onClick={() => {
              peek.close();
              toggle();
            }}
          >
            <caretRightIcon.react tag="span" className="onyx-Icon onyx-CellMark-caret" />
            <span>{words}</span>
          </button>
        ) : (
          <span className="onyx-CellMark-words">
            <span>{words}</span>
          </span>
        )}
        <button
          type="button"
          className="onyx-CellMark-action onyx-mod-keep"
          data-onyx="mark-keep"
          disabled={isBusy}
          title={isDeleted ? trans.__('Leave it out') : trans.__('Keep it as it is now')}
          onClick={keep}
        >
          <checkIcon.react tag="span" className="onyx-Icon" />
          <span>{isDeleted ? trans.__('OK') : trans.__('Keep')}</span>
        </button>
        {!shown.isYours && (
          <button
            type="button"
            className="onyx-CellMark-action"
            data-onyx="mark-revert"
            disabled={isBusy || refusal !== null}
            title={refusal ?? revertTitle(shown, trans)}
            onClick={revert}
          >
            <undoIcon.react tag="span" className="onyx-Icon" />
            <span>{isDeleted ? trans.__('Put back') : trans.__('Revert')}</span>
          </button>
        )}
      </div>
      <div id={bodyId} hidden={!(isOpen && hasDiff)} className="onyx-CellMark-diff">
        {isOpen && hasDiff && diff('mark-diff')}
      </div>
      <DiffPeek peek={peek} hint={trans.__('Click to keep this open')}>
        {diff('mark-peek-diff')}
      </DiffPeek>
    </>
  );
}

function revertTitle(shown: ShownMark, trans: TranslationBundle): string {
  switch (shown.kind) {
    case 'added':
      return trans.__('Remove the new cell');
    case 'deleted':
      return trans.__('Move the cell back');
    default:
      return trans.__('Put the cell back as it was; nothing is run');
  }
}
