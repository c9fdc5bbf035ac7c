/** Earlier runs of a skill, one line each: parameters, outcome, when, by whom. */
import { formatRelative } from '../../shared/relative_time';
import type { SkillRunInfo } from '../../protocol/wire';
import { statusName } from './skill_run_view';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface SkillHistoryProps {
  runs: readonly SkillRunInfo[];
  currentId: string | null;
  open: (run: SkillRunInfo) => void;
}

export function SkillHistory({ runs, currentId, open }: SkillHistoryProps): JSX.Element {
  const { trans } = useUi();
  return (
    <section className="onyx-History" data-onyx="skill-history">
      <h3>{trans.__('Runs')}</h3>
      <ul>
        {runs.map(run => (
          <li key={run.runId}>
            <button
              type="button"
              className="onyx-Row"
              data-onyx="skill-history-run"
              data-status={run.status}
              aria-current={run.runId === currentId}
              onClick={() => open(run)}
            >
              <span className="onyx-History-values">{valuesOf(run, trans)}</span>
              <span className="onyx-History-facts" title={run.startedAt}>
                {[statusName(run, trans), formatRelative(run.startedAt), personOf(run, trans)]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function valuesOf(run: SkillRunInfo, trans: Ui['trans']): string {
  const values = Object.entries(run.parameters);
  const words = values.map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`
  );
  return words.join(', ') || trans.__('as it is');
}

/** `user:Ada` and `agent:main` in readable form; empty for one's own runs. */
function personOf(run: SkillRunInfo, trans: Ui['trans']): string {
  return run.by.startsWith('agent:') ? trans.__('by the agent') : '';
}
