/** How well a passage matches, as a short bar; its parts are named on hover and to screen readers. */
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

export interface Scores {
  score: number;
  vectorScore?: number | null;
  textScore?: number | null;
  recency?: number | null;
}

export function ScoreBar({ scores }: { scores: Scores }): JSX.Element {
  const { trans } = useUi();
  const words = formatScores(scores, trans);
  return (
    <span className="onyx-Score" data-onyx="score" role="img" aria-label={words} title={words}>
      <span style={{ width: `${Math.round(Math.min(1, Math.max(0, scores.score)) * 100)}%` }} />
    </span>
  );
}

/** One line per part; a part that did not count is left out. */
export function formatScores(scores: Scores, trans: Ui['trans']): string {
  const parts: Array<[string, number | null | undefined]> = [
    [trans.__('Score'), scores.score],
    [trans.__('meaning'), scores.vectorScore],
    [trans.__('words'), scores.textScore],
    [trans.__('recency'), scores.recency]
  ];
  return parts
    .filter((part): part is [string, number] => typeof part[1] === 'number')
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join('\n');
}
