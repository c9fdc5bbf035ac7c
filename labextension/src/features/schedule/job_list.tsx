/** All jobs and heartbeats, with their next run and newest outcomes; arrow keys move through the list. */
import { Finder } from '../../shared/finder';
import { useNow } from '../../shared/hooks';
import { useUi } from '../../shared/ui_context';
import type { HeartbeatState, JobInfo } from '../../protocol/wire';
import { OutcomeDots } from './outcome_dots';
import { durationWords, heartbeatName, stateName, stateOf } from './job_words';
import type { Chosen, Jobs } from './jobs';

interface JobListProps {
  jobs: Jobs;
  /** How many runs and beats the user has not seen; 0 hides the row. */
  awayCount: number;
}

export function JobList({ jobs, awayCount }: JobListProps): JSX.Element {
  const { trans } = useUi();
  useNow(10_000); // “in 5 min.”
  const { chosen, query, total } = jobs;
  const listed = jobs.jobs ?? [];
  const choose = (next: Chosen) => jobs.choose(next);
  return (
    <Finder
      hook="job-search"
      label={trans.__('Search jobs')}
      query={query}
      search={next => jobs.search(next)}
    >
      <div className="onyx-Rows" data-onyx="job-list">
        {awayCount > 0 && (
          <section>
            <button
              type="button"
              className="onyx-Row"
              data-onyx="away-row"
              aria-current={chosen?.kind === 'away'}
              onClick={() => choose({ kind: 'away' })}
            >
              <span className="onyx-Row-name">{trans.__('While you were away')}</span>
              <span className="onyx-Row-state">{awayCount}</span>
            </button>
          </section>
        )}
        {listed.length > 0 && (
          <section aria-label={trans.__('Jobs')}>
            <h3>{trans.__('Jobs')}</h3>
            {listed.map(job => (
              <JobRow
                key={job.id}
                job={job}
                isChosen={chosen?.kind === 'job' && chosen.id === job.id}
                choose={choose}
              />
            ))}
            {total > listed.length && (
              <button
                type="button"
                className="onyx-Link"
                data-onyx="more-jobs"
                onClick={() => jobs.showMore()}
              >
                {trans._n('%1 more', '%1 more', total - listed.length)}
              </button>
            )}
          </section>
        )}
        {!query && jobs.heartbeats.length > 0 && (
          <section aria-label={trans.__('Heartbeat')}>
            <h3>{trans.__('Heartbeat')}</h3>
            {jobs.heartbeats.map(state => (
              <HeartbeatRow
                key={state.agentId}
                state={state}
                isChosen={chosen?.kind === 'heartbeat' && chosen.agentId === state.agentId}
                choose={choose}
              />
            ))}
          </section>
        )}
      </div>
      <div className="onyx-Note" role="status">
        {jobs.jobs === null && !jobs.problem && trans.__('Reading…')}
        {jobs.jobs?.length === 0 && (query ? trans.__('Nothing found.') : trans.__('There are no jobs yet.'))}
      </div>
    </Finder>
  );
}

interface RowProps {
  isChosen: boolean;
  choose: (chosen: Chosen) => void;
}

function JobRow({ job, isChosen, choose }: RowProps & { job: JobInfo }): JSX.Element {
  const { trans } = useUi();
  return (
    <button
      type="button"
      className="onyx-Row"
      data-onyx="job"
      data-job={job.id}
      data-state={stateOf(job)}
      aria-current={isChosen}
      title={job.name}
      onClick={() => choose({ kind: 'job', id: job.id, isEdited: false })}
    >
      <span className="onyx-Row-name">{job.name}</span>
      <span className="onyx-Row-state">{stateName(job, trans)}</span>
      <span className="onyx-Row-about onyx-Job-about">
        <span title={job.when}>{job.when}</span>
        <OutcomeDots outcomes={job.recent} />
      </span>
    </button>
  );
}

function HeartbeatRow({ state, isChosen, choose }: RowProps & { state: HeartbeatState }): JSX.Element {
  const { trans } = useUi();
  return (
    <button
      type="button"
      className="onyx-Row"
      data-onyx="heartbeat"
      data-agent={state.agentId}
      aria-current={isChosen}
      onClick={() => choose({ kind: 'heartbeat', agentId: state.agentId })}
    >
      <span className="onyx-Row-name">{state.agentName}</span>
      <span className="onyx-Row-state">{heartbeatName(state, trans)}</span>
      <span className="onyx-Row-about">
        {trans.__('Looks every %1', durationWords(state.intervalMs, trans))}
      </span>
    </button>
  );
}
