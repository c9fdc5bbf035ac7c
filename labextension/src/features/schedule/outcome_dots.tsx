/** The newest outcomes of a job as dots, the newest at the right. */
import { useUi } from '../../shared/ui_context';
import { outcomeName } from './job_words';
import type { Outcome } from './job_words';

const SHOWN = 8;

export function OutcomeDots({ outcomes }: { outcomes: readonly Outcome[] }): JSX.Element | null {
  const { trans } = useUi();
  const shown = outcomes.slice(-SHOWN);
  if (shown.length === 0) {
    return null;
  }
  const words = shown.map(one => outcomeName(one, trans)).join(', ');
  return (
    <span className="onyx-Dots" role="img" aria-label={trans.__('Newest runs: %1', words)} title={words}>
      {shown.map((outcome, index) => (
        <span key={index} className="onyx-Dot" data-outcome={outcome} />
      ))}
    </span>
  );
}
