/** The cell being written, in the card that will ask for approval, with room for what is added then. */
import { memo, useLayoutEffect, useRef } from 'react';
import type { MutableRefObject } from 'react';

import { DiffView } from '../../shared/diff_view';
import { useUi } from '../../shared/ui_context';

interface CellDraftProps {
  source: string;
  /** Whether it will need approval, as far as that is known. */
  isPending: boolean;
  /** Whether it had the keyboard focus when it was removed. */
  hadFocus: MutableRefObject<boolean>;
}

/** Screen readers announce that a cell is being written, not its text. */
export const CellDraft = memo(function CellDraft(props: CellDraftProps): JSX.Element {
  const { source, isPending, hadFocus } = props;
  const { trans } = useUi();
  const code = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = code.current?.firstElementChild;
    box?.scrollTo?.({ top: box.scrollHeight });
  }, [source]);
  useLayoutEffect(() => {
    const node = code.current;
    hadFocus.current = false;
    return () => {
      hadFocus.current = node?.contains(document.activeElement) ?? false;
    };
  }, [hadFocus]);
  return (
    <div
      className={`onyx-Approval onyx-mod-draft${isPending ? ' onyx-mod-asks' : ''}`}
      data-onyx="cell-draft"
    >
      <div className="onyx-Approval-head">
        <span>
          <span className="onyx-Approval-title" role="status">
            {trans.__('Writing a cell…')}
          </span>
          {isPending && (
            <span className="onyx-Draft-note">{trans.__('You can answer when it is complete.')}</span>
          )}
        </span>
        <span className="onyx-Working" aria-hidden="true" />
      </div>
      <div ref={code} className="onyx-Draft-code" aria-live="off">
        <DiffView before="" after={source} />
      </div>
      {isPending && <AnswersToCome source={source} />}
    </div>
  );
});

/**
 * A placeholder for what an approval shows below its code, hidden from screen readers: nothing can be
 * approved yet.
 */
function AnswersToCome({ source }: { source: string }): JSX.Element {
  const { trans } = useUi();
  const lines = source.trimEnd().split('\n').length;
  return (
    <div className="onyx-Draft-foot" aria-hidden="true">
      <div className="onyx-Where">{trans._n('%1 line so far', '%1 lines so far', lines)}</div>
      <div className="onyx-Approval-answers">
        <button type="button" className="onyx-Button onyx-mod-accept" disabled>
          {trans.__('Allow once')}
          <kbd>⏎</kbd>
        </button>
        {[trans.__('This session'), trans.__('Always')].map(label => (
          <button key={label} type="button" className="onyx-Button" disabled>
            {label}
          </button>
        ))}
        <button type="button" className="onyx-Button" disabled>
          {trans.__('Deny')}
          <kbd>Esc</kbd>
        </button>
      </div>
      <div className="onyx-Scopes" />
    </div>
  );
}
