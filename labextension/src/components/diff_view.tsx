/** Lines added and removed, with signs, so that it reads without colour too: from two texts, or from a diff of them. */
import { foldUnchanged, lineDiff, readUnified } from '../models/line_diff';
import type { DiffLine } from '../models/line_diff';
import { useUi } from './ui_context';

const SIGNS = { same: ' ', added: '+', removed: '−' };

export function DiffView({ before, after }: { before: string; after: string }): JSX.Element {
  const { trans } = useUi();
  return (
    <pre className="onyx-Diff" data-onyx="diff" tabIndex={0} aria-label={trans.__('Changes')}>
      {foldUnchanged(lineDiff(before, after)).map((line, index) =>
        typeof line === 'number' ? (
          <Fold key={index} text={trans._n('%1 unchanged line', '%1 unchanged lines', line)} />
        ) : (
          <Line key={index} line={line} />
        )
      )}
    </pre>
  );
}

/** A diff that the server made, in the unified format. */
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

function Line({ line }: { line: DiffLine }): JSX.Element {
  return (
    <div className={`onyx-Diff-line onyx-mod-${line.kind}`} data-sign={SIGNS[line.kind]}>
      {line.text || ' '}
    </div>
  );
}

function Fold({ text }: { text: string }): JSX.Element {
  return <div className="onyx-Diff-fold">{text}</div>;
}
