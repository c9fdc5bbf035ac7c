/** A bar for each day. The table beneath says the same in numbers. */
import type { UsageDay } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';
import { costOfSum, tokensOfSum } from './usage_words';

const HEIGHT = 64;
const GAP = 0.2;

interface UsageChartProps {
  /** An ISO date. */
  today: string;
  /** How many days, today included. */
  period: number;
  /** Those with calls. */
  days: readonly UsageDay[];
}

/** Bars are dollars if any are known, else tokens. */
export function UsageChart({ today, period, days }: UsageChartProps): JSX.Element {
  const { trans } = useUi();
  const inDollars = days.some(({ total }) => total.costUsd > 0);
  const size = ({ total }: UsageDay) => (inDollars ? total.costUsd : total.inputTokens + total.outputTokens);
  const most = Math.max(...days.map(size), Number.MIN_VALUE);
  const shown = lastDays(today, period).map(day => ({ day, usage: days.find(one => one.day === day) }));
  return (
    <figure className="onyx-UsageChart">
      {period > 1 && (
        <svg
          viewBox={`0 0 ${period} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={inDollars ? trans.__('Cost by day') : trans.__('Tokens by day')}
          data-onyx="usage-chart"
        >
          {shown.map(({ day, usage }, index) => {
            const height = usage ? Math.max(1, (size(usage) / most) * HEIGHT) : 0;
            return (
              <rect
                key={day}
                x={index + GAP / 2}
                y={HEIGHT - height}
                width={1 - GAP}
                height={height}
                data-day={day}
              >
                <title>{usage ? `${day}: ${costOfSum(usage.total, trans)}` : day}</title>
              </rect>
            );
          })}
        </svg>
      )}
      <table className="onyx-UsageTable" data-onyx="usage-days">
        <caption>{trans.__('By day')}</caption>
        <thead>
          <tr>
            <th scope="col">{trans.__('Day')}</th>
            <th scope="col">{trans.__('Tokens')}</th>
            <th scope="col">{trans.__('Cost')}</th>
          </tr>
        </thead>
        <tbody>
          {[...days].reverse().map(({ day, total }) => (
            <tr key={day}>
              <th scope="row">{day === today ? trans.__('Today') : day}</th>
              <td>{tokensOfSum(total)}</td>
              <td>{costOfSum(total, trans)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

/** ISO dates, the oldest first. */
export function lastDays(today: string, count: number): string[] {
  const last = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) =>
    new Date(last - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10)
  );
}
