/** The scheduled jobs as a panel of the main area: connects the models to the components. */
import { ReactWidget, addIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { useEffect } from 'react';

import type { Assistant } from '../chat/assistant';
import { useSignals } from '../../shared/hooks';
import { PanelFrame } from '../../shared/panel_frame';
import { ProblemNote, RefusalNote } from '../../shared/problem_notes';
import { UiProvider, useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import type { Settings } from '../settings/settings';
import type { Away } from './away';
import { AwayDetail } from './away_detail';
import { HeartbeatDetail } from './heartbeat_detail';
import { JobDetail } from './job_detail';
import { JobForm } from './job_form';
import { JobList } from './job_list';
import type { Jobs } from './jobs';

interface JobsPanelProps {
  jobs: Jobs;
  away: Away;
  settings: Settings;
  assistant: Assistant;
  ui: Ui;
  openSession: (sessionKey: string) => void;
  /** Opens the HEARTBEAT.md of an agent. */
  openTasks: (agentId: string) => void;
}

export class JobsPanel extends ReactWidget {
  constructor(private readonly props: JobsPanelProps) {
    super();
    this.addClass('onyx-Panel');
    this.node.dataset.onyx = 'jobs-panel';
  }

  /** Files may have changed while the panel was hidden. */
  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.props.jobs.load();
  }

  protected override render(): JSX.Element {
    return (
      <UiProvider value={this.props.ui}>
        <Panel {...this.props} />
      </UiProvider>
    );
  }
}

function Panel(props: JobsPanelProps): JSX.Element {
  const { jobs, away, settings, ui } = props;
  const { trans } = ui;
  useSignals(jobs.changed, away.changed, settings.changed, jobs.client.stateChanged);
  useEffect(() => {
    void jobs.open();
    void settings.open();
    return () => {
      jobs.close();
      settings.close();
    };
  }, [jobs, settings]);
  return (
    <PanelFrame
      title={trans.__('Scheduled')}
      about={trans.__('What Onyx does by itself: at a time, again and again, or when it looks around.')}
      hook="jobs-frame"
      showsDetail={jobs.chosen !== null}
      actions={
        <button
          type="button"
          className="onyx-Button"
          data-onyx="job-new"
          onClick={() => jobs.choose({ kind: 'new' })}
        >
          <addIcon.react tag="span" className="onyx-Icon" />
          {trans.__('New job')}
        </button>
      }
      notice={<Notices {...props} />}
      list={<JobList jobs={jobs} awayCount={away.count} />}
      detail={<Detail {...props} />}
    />
  );
}

function Notices({ jobs, settings }: JobsPanelProps): JSX.Element {
  const { trans } = useUi();
  const elsewhere =
    jobs.jobs !== null && !jobs.runsHere
      ? [trans.__('Another server on the same home runs the jobs. They can be changed here.')]
      : [];
  return (
    <>
      <ProblemNote problem={jobs.problem} again={() => void jobs.load()} hook="jobs-problem" />
      <RefusalNote reason={jobs.refusal} dismiss={() => jobs.dismissRefusal()} hook="jobs-refusal" />
      <RefusalNote
        reason={settings.refusal}
        dismiss={() => settings.dismissRefusal()}
        hook="jobs-settings-refusal"
      />
      {[...elsewhere, ...jobs.fileProblems].map(words => (
        <div key={words} className="onyx-Problem" role="status" data-onyx="jobs-notice">
          {words}
        </div>
      ))}
    </>
  );
}

function Detail(props: JobsPanelProps): JSX.Element {
  const { jobs, away, settings, assistant, openSession, openTasks } = props;
  useSignals(assistant.changed);
  const online = jobs.client.state === 'open';
  const { chosen, job, heartbeat } = jobs;
  const models = assistant.models.map(({ id }) => id);
  if (chosen?.kind === 'new') {
    return <JobForm key="new" {...{ jobs, models, online }} job={null} />;
  }
  if (chosen?.kind === 'job' && job) {
    return chosen.isEdited ? (
      <JobForm key={job.id} {...{ jobs, job, models, online }} />
    ) : (
      <JobDetail key={job.id} {...{ jobs, job, online, openSession }} />
    );
  }
  if (heartbeat) {
    return (
      <HeartbeatDetail
        key={heartbeat.agentId}
        {...{ jobs, settings, online, openTasks, openSession }}
        state={heartbeat}
      />
    );
  }
  if (chosen?.kind === 'away') {
    return <AwayDetail {...{ jobs, away, openSession }} />;
  }
  return <JobsEmpty jobs={jobs} />;
}

/** What can be scheduled, and how to begin. */
function JobsEmpty({ jobs }: { jobs: Jobs }): JSX.Element {
  const { trans } = useUi();
  const begin = () => jobs.choose({ kind: 'new' });
  return (
    <div className="onyx-Panel-empty" data-onyx="jobs-empty">
      {jobs.jobs?.length ? (
        <p>{trans.__('Choose a job to see its runs.')}</p>
      ) : (
        <p>
          {trans.__(
            'A job starts by itself, also when no page is open. Ask for one in the chat, “Every weekday at nine, check data/ for new files”, or'
          )}{' '}
          <button type="button" className="onyx-Link" onClick={begin}>
            {trans.__('fill in a form')}
          </button>
          .
        </p>
      )}
      <p>
        {trans.__(
          'What you write into HEARTBEAT.md is looked after again and again; Onyx speaks up only if there is something to say.'
        )}
      </p>
    </div>
  );
}
