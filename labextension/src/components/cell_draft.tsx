/** The cell that is being written: the card in which it will be asked about, without its answers. */
import { memo, useLayoutEffect, useRef } from 'react';

import { DiffView } from './diff_view';
import { useUi } from './ui_context';

/** What is read out is that a cell is written; the letters are not. */
export const CellDraft = memo(function CellDraft({ source }: { source: string }): JSX.Element {
  const { trans } = useUi();
  const code = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = code.current?.firstElementChild;
    box?.scrollTo?.({ top: box.scrollHeight });
  }, [source]);
  return (
    <div className="onyx-Approval onyx-mod-draft" data-onyx="cell-draft">
      <div className="onyx-Approval-head">
        <span className="onyx-Approval-title" role="status">
          {trans.__('Writing a cell…')}
        </span>
        <span className="onyx-Working" aria-hidden="true" />
      </div>
      <div ref={code} className="onyx-Draft-code" aria-live="off">
        <DiffView before="" after={source} />
      </div>
      <div className="onyx-Draft-room" aria-hidden="true" />
    </div>
  );
});
