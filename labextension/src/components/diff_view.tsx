/** Lines added and removed, with signs, so that it reads without colour too. */
import { foldUnchanged, lineDiff } from '../models/line_diff';
import { useUi } from './ui_context';

const SIGNS = { same: ' ', added: '+', removed: '−' };

export function DiffView({ before, after }: { before: string; after: string }): JSX.Element {
  const { trans } = useUi();
  return (
    <pre className="onyx-Diff" data-onyx="diff" tabIndex={0} aria-label={trans.__('Changes')}>
      {foldUnchanged(lineDiff(before, after)).map((line, index) =>
        typeof line === 'number' ? (
          <div key={index} className="onyx-Diff-fold">
            {trans._n('%1 unchanged line', '%1 unchanged lines', line)}
          </div>
        ) : (
          <div key={index} className={`onyx-Diff-line onyx-mod-${line.kind}`} data-sign={SIGNS[line.kind]}>
            {line.text || ' '}
          </div>
        )
      )}
    </pre>
  );
}
