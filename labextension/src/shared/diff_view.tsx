/**
 * Added and removed lines, with signs, so that it is readable without colour: from two texts, or from their
 * diff.
 */
import { Fragment, useState } from 'react';

import { foldUnchanged, lineDiff, readUnified } from './line_diff';
import type { DiffLine } from './line_diff';
import { useUi } from './ui_context';
import { VisibleText } from './visible_text';

const SIGNS = { same: ' ', added: '+', removed: '−' };

export function DiffView({ before, after }: { before: string; after: string }): JSX.Element {
  const { trans } = useUi();
  return (
    <pre className="onyx-Diff" data-onyx="diff" tabIndex={0} aria-label={trans.__('Changes')}>
      {foldUnchanged(lineDiff(before, after)).map((part, index) =>
        Array.isArray(part) ? <Unchanged key={index} lines={part} /> : <Line key={index} line={part} />
      )}
    </pre>
  );
}

/** A diff from the server, in the unified format. */
export function UnifiedDiffView({ diff }: { diff: string }): JSX.Element {
  const { trans } = useUi();
  return (
    <pre className="onyx-Diff" data-onyx="diff" tabIndex={0} aria-label={trans.__('Changes')}>
      {readUnified(diff).map((line, index) =>
        line.kind === 'hunk' ? (
          <Fold key={index} text={trans.__('Line %1', line.text)} />
        ) : line.kind === 'note' ? (
          <Fold key={index} text={line.text} />
        ) : (
          <Line key={index} line={{ kind: line.kind, text: line.text }} />
        )
      )}
      {diff === '' && <Fold text={trans.__('Nothing changes.')} />}
    </pre>
  );
}

/** Unchanged lines, one click away: everything that will run can be inspected. */
function Unchanged({ lines }: { lines: readonly DiffLine[] }): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  if (isOpen) {
    return (
      <Fragment>
        {lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
      </Fragment>
    );
  }
  return (
    <button
      type="button"
      className="onyx-Diff-unfold"
      data-onyx="unfold"
      title={trans.__('Show them')}
      onClick={() => setIsOpen(true)}
    >
      {trans._n('%1 unchanged line', '%1 unchanged lines', lines.length)}
    </button>
  );
}

/** Only for a line without hidden characters; in others a mark may belong to the space before it. */
const INDENT = /^ +(?=[\x20-\x7e]*$)/;

function Line({ line }: { line: DiffLine }): JSX.Element {
  const indent = INDENT.exec(line.text)?.[0] ?? '';
  return (
    <div className={`onyx-Diff-line onyx-mod-${line.kind}`} data-sign={SIGNS[line.kind]}>
      <span className="onyx-Diff-text">
        {indent && <span className="onyx-Diff-indent">{indent}</span>}
        {line.text ? <VisibleText text={line.text.slice(indent.length)} /> : ' '}
      </span>
    </div>
  );
}

function Fold({ text }: { text: string }): JSX.Element {
  return (
    <div className="onyx-Diff-fold">
      <VisibleText text={text} />
    </div>
  );
}
