/** One job: what it does and when, what can be done with it, and its runs. */
import { showDialog, Dialog } from '@jupyterlab/apputils';

import type { JobInfo } from '../../protocol/wire';
import { formatRelative } from '../../shared/relative_time';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { JobHistory } from './job_history';
import { stateOf, targetWords } from './job_words';
import type { Jobs } from './jobs';

export interface JobDetailProps {
  jobs: Jobs;
  job: JobInfo;
  online: boolean;
  openSession: (sessionKey: string) => void;
}

export function JobDetail({ jobs, job, online, openSession }: JobDetailProps): JSX.Element {
  const { trans } = useUi();
  const state = stateOf(job);
  const canRun = online && jobs.runsHere && !job.running;
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={() => jobs.choose(null)}>
          {trans.__('← All jobs')}
        </button>
        <h3>{job.name}</h3>
        <div className="onyx-Detail-facts" data-onyx="job-state" data-state={state}>
          <span>{job.when}</span>
          <NextRun job={job} />
        </div>
      </header>
      {job.disabled && (
        <div className="onyx-Problem" data-onyx="job-stopped">
          {trans.__(
            'It failed %1 times in a row, so it no longer runs by itself. Look at its runs below, then resume it.',
            job.failures
          )}
        </div>
      )}
      <div className="onyx-Job-actions">
        <button
          type="button"
          className="onyx-Button"
          data-onyx="job-run"
          disabled={!canRun}
          title={jobs.runsHere ? undefined : trans.__('Another server on this home runs the jobs')}
          onClick={() => void jobs.runNow(job.id)}
        >
          {job.running ? trans.__('Running…') : trans.__('Run now')}
        </button>
        <PauseButton {...{ jobs, job, online }} />
        <button
          type="button"
          className="onyx-Button"
          data-onyx="job-edit"
          disabled={!online}
          onClick={() => jobs.choose({ kind: 'job', id: job.id, isEdited: true })}
        >
          {trans.__('Edit')}
        </button>
        <button
          type="button"
          className="onyx-Button"
          data-onyx="job-remove"
          disabled={!online}
          onClick={() => void confirmRemoval(job, trans).then(isSure => void (isSure && jobs.remove(job.id)))}
        >
          {trans.__('Delete…')}
        </button>
      </div>
      <Facts job={job} />
      <JobHistory
        job={job}
        entries={jobs.history}
        canRun={canRun}
        allowAndRun={(denied: readonly string[]) => void jobs.allowAndRun(job, denied)}
        openSession={openSession}
      />
    </>
  );
}

function NextRun({ job }: { job: JobInfo }): JSX.Element {
  const { trans } = useUi();
  switch (stateOf(job)) {
    case 'running':
      return <span>{trans.__('running')}</span>;
    case 'stopped':
      return <span>{trans.__('stopped after failures')}</span>;
    case 'paused':
      return <span>{trans.__('paused')}</span>;
    case 'over':
      return <span>{trans.__('does not run again')}</span>;
    default:
      return (
        <span title={formatRelative(job.nextAt ?? '')}>
          {trans.__('next %1', new Date(job.nextAt ?? '').toLocaleString())}
        </span>
      );
  }
}

function PauseButton({ jobs, job, online }: Omit<JobDetailProps, 'openSession'>): JSX.Element | null {
  const { trans } = useUi();
  const state = stateOf(job);
  if (state === 'over') {
    return null;
  }
  const isOff = !job.enabled || job.disabled;
  return (
    <button
      type="button"
      className="onyx-Button"
      data-onyx={isOff ? 'job-resume' : 'job-pause'}
      disabled={!online}
      onClick={() => void jobs.change({ jobId: job.id, enabled: isOff })}
    >
      {isOff ? trans.__('Resume') : trans.__('Pause')}
    </button>
  );
}

function Facts({ job }: { job: JobInfo }): JSX.Element {
  const { trans } = useUi();
  const calls = job.toolCalls.map(({ tool, arguments: given }) => `${tool} ${JSON.stringify(given)}`);
  const facts: Array<[string, string]> = [
    [trans.__('Notebook skill'), job.skill ?? ''],
    [trans.__('Parameters'), job.skill ? JSON.stringify(job.parameters) : ''],
    [trans.__('Then asks'), job.synthesisPrompt ?? ''],
    [trans.__('Where'), targetWords(job.sessionTarget, job.targetReason, trans)],
    [trans.__('Starts'), job.wake === 'heartbeat' ? trans.__('With the next heartbeat') : ''],
    [trans.__('Model'), job.model ?? ''],
    [
      trans.__('May use'),
      job.policy.join(', ') || trans.__('Only what never asks, or what you always allow')
    ],
    [trans.__('If missed'), job.catchUp ? trans.__('The newest missed run is made up for') : '']
  ];
  return (
    <>
      {(job.message || calls.length > 0) && (
        <pre className="onyx-Source onyx-Job-task" data-onyx="job-task">
          {job.message ?? calls.join('\n')}
        </pre>
      )}
      <dl className="onyx-JobFacts" data-onyx="job-facts">
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </>
  );
}

async function confirmRemoval(job: JobInfo, trans: Ui['trans']): Promise<boolean> {
  const { button } = await showDialog({
    title: trans.__('Delete “%1”?', job.name),
    body: trans.__(
      'It does not run again. A run in progress goes on, and the conversations of its runs stay.'
    ),
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: trans.__('Delete') })]
  });
  return button.accept;
}
