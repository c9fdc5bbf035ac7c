/** What was remembered of the conversation automatically: one line that opens, with a way to undo it. */
import { useId, useState } from 'react';

import type { MemoryChange, MemoryNoteData } from '../chat/note_data';
import { UnifiedDiffView } from '../../shared/diff_view';
import { FoldLine } from '../../shared/fold_line';
import { useUi } from '../../shared/ui_context';

const SIGNS = { add: '+', change: '±', drop: '−' };

export function MemoryNote({ data }: { data: MemoryNoteData }): JSX.Element {
  const { trans, memory } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [reason, setReason] = useState<string | null>(null);
  const bodyId = useId();
  const canUndo = memory && !data.isUndone && (data.done.length === 0 || data.before !== undefined);
  const undo = async () => {
    setIsBusy(true);
    const answer = await memory!.undo(data.id, trans);
    setIsBusy(false);
    setReason(answer.ok ? null : (answer.reason ?? trans.__('Nothing was undone.')));
  };
  return (
    <div
      className="onyx-Tool onyx-MemoryNote"
      role="note"
      data-onyx="note"
      data-kind="memory"
      data-undone={data.isUndone}
    >
      <div className="onyx-MemoryNote-head">
        <FoldLine {...{ isOpen, setIsOpen, bodyId }}>
          <span className="onyx-MemoryNote-words">
            {data.done.length > 0
              ? trans._n('Remembered %1 thing', 'Remembered %1 things', data.done.length)
              : trans.__('Noted what happened')}
          </span>
          <span className="onyx-MemoryNote-file">{data.done.length > 0 ? data.path : 'HISTORY.md'}</span>
        </FoldLine>
        {data.isUndone ? (
          <span className="onyx-MemoryNote-state" data-onyx="memory-undone">
            {trans.__('Undone')}
          </span>
        ) : (
          canUndo && (
            <button
              type="button"
              className="onyx-Link"
              data-onyx="memory-undo"
              title={trans.__('Put the file back as it was before')}
              disabled={isBusy}
              onClick={() => void undo()}
            >
              {isBusy ? trans.__('Undoing…') : trans.__('Undo')}
            </button>
          )
        )}
      </div>
      {reason && (
        <div className="onyx-MemoryNote-reason" role="alert" data-onyx="memory-refused">
          <span>{reason}</span>
          {data.version !== undefined && <Diff data={data} isSince />}
        </div>
      )}
      <div id={bodyId} hidden={!isOpen} className="onyx-Tool-body">
        {isOpen && <Details data={data} />}
      </div>
    </div>
  );
}

function Details({ data }: { data: MemoryNoteData }): JSX.Element {
  const { trans, openFile } = useUi();
  return (
    <>
      {data.done.length > 0 && (
        <ul className="onyx-MemoryNote-changes">
          {data.done.map((change, index) => (
            <Change key={index} change={change} />
          ))}
        </ul>
      )}
      {data.history && <div className="onyx-MemoryNote-history">{data.history.replace(/^- /, '')}</div>}
      {data.refused.length > 0 && (
        <details className="onyx-MemoryNote-refused" data-onyx="memory-left-out">
          <summary>{trans._n('%1 left out', '%1 left out', data.refused.length)}</summary>
          <ul className="onyx-MemoryNote-changes">
            {data.refused.map(({ change, why }, index) => (
              <Change key={index} change={change} why={why} />
            ))}
          </ul>
        </details>
      )}
      <div className="onyx-MemoryNote-actions">
        {data.before !== undefined && <Diff data={data} />}
        {openFile && data.done.length > 0 && (
          <button
            type="button"
            className="onyx-Link"
            data-onyx="memory-open"
            onClick={() => openFile(`onyx:${data.path}`)}
          >
            {trans.__('Open %1', data.path)}
          </button>
        )}
      </div>
    </>
  );
}

function Change({ change, why }: { change: MemoryChange; why?: string }): JSX.Element {
  const place = [change.section, why ?? change.reason].filter(Boolean).join(' · ');
  return (
    <li data-sign={SIGNS[change.op]} data-onyx="memory-change" data-op={change.op}>
      {change.op === 'drop' ? <s>{change.item}</s> : <span>{change.content}</span>}
      {change.op === 'change' && <s>{change.item}</s>}
      <span className="onyx-MemoryNote-why">{place}</span>
    </li>
  );
}

/**
 * What the note's changes did to the file; with `isSince`, what was done to it afterwards. Read on request.
 */
function Diff({ data, isSince }: { data: MemoryNoteData; isSince?: boolean }): JSX.Element | null {
  const { trans, memory } = useUi();
  const [diff, setDiff] = useState<string | null>(null);
  const [problem, setProblem] = useState('');
  const read = async () => {
    try {
      const { path, version, before } = data;
      setDiff(isSince ? await memory!.diff(path, version!) : await memory!.diff(path, before!, version));
    } catch {
      setProblem(trans.__('The versions could not be compared.'));
    }
  };
  if (!memory) {
    return null;
  }
  if (diff !== null) {
    return <UnifiedDiffView diff={diff} />;
  }
  return (
    <button type="button" className="onyx-Link" data-onyx="memory-diff" onClick={() => void read()}>
      {problem || (isSince ? trans.__('Show what changed since') : trans.__('Show the change'))}
    </button>
  );
}
