/** What happened while the user was away, by job. */
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import type { Away, AwayGroup } from './away';
import { RunEntry } from './job_history';
import type { Jobs } from './jobs';

interface AwayDetailProps {
  jobs: Jobs;
  away: Away;
  openSession: (sessionKey: string) => void;
}

export function AwayDetail({ jobs, away, openSession }: AwayDetailProps): JSX.Element {
  const { trans } = useUi();
  const { groups } = away;
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={() => jobs.choose(null)}>
          {trans.__('← All jobs')}
        </button>
        <h3>{trans.__('While you were away')}</h3>
      </header>
      <section className="onyx-History" data-onyx="away" aria-label={trans.__('While you were away')}>
        <ul>
          {groups.map(group => (
            <li key={group.jobId ?? group.name} data-onyx="away-group">
              <div className="onyx-Away-head">
                <GroupName {...{ group, jobs }} />
                <span className="onyx-History-facts">{countsOf(group, trans)}</span>
              </div>
              {group.last && <RunEntry entry={group.last} openSession={openSession} />}
            </li>
          ))}
        </ul>
      </section>
      <div className="onyx-Job-actions">
        <button
          type="button"
          className="onyx-Button"
          data-onyx="away-done"
          onClick={() => {
            away.dismiss();
            jobs.choose(null);
          }}
        >
          {trans.__('Done')}
        </button>
      </div>
    </>
  );
}

function GroupName({ group, jobs }: { group: AwayGroup; jobs: Jobs }): JSX.Element {
  const { trans } = useUi();
  const { jobId, name } = group;
  return jobId === null ? (
    <strong>{trans.__('Heartbeat of %1', name)}</strong>
  ) : (
    <button
      type="button"
      className="onyx-Link"
      onClick={() => jobs.choose({ kind: 'job', id: jobId, isEdited: false })}
    >
      {name}
    </button>
  );
}

function countsOf({ runs, failed, missed }: AwayGroup, trans: Ui['trans']): string {
  return [
    runs > 0 ? trans._n('%1 run', '%1 runs', runs) : '',
    failed > 0 ? trans._n('%1 failed', '%1 failed', failed) : '',
    missed > 0 ? trans._n('%1 missed', '%1 missed', missed) : ''
  ]
    .filter(Boolean)
    .join(', ');
}
