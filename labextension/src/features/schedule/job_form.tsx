/** The form of a new job, and of one that is changed. What it would mean is shown while it is filled in. */
import { useEffect, useMemo, useState } from 'react';

import type { JobInfo, SchedulePreview, ScheduleUpdateParams } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { Field, Select } from './fields';
import { targetWords } from './job_words';
import { newTiming, timingFields, timingOf } from './job_timing';
import { TimingFields } from './timing_fields';
import type { Timing } from './job_timing';
import type { JobFields, Jobs } from './jobs';

const PREVIEW_AFTER_MS = 300;

interface JobFormProps {
  jobs: Jobs;
  /** null for a new job. */
  job: JobInfo | null;
  /** The ids of all models that can be chosen. */
  models: readonly string[];
  online: boolean;
}

type Target = 'content' | JobInfo['sessionTarget'];

export function JobForm({ jobs, job, models, online }: JobFormProps): JSX.Element {
  const { trans } = useUi();
  const [name, setName] = useState(job?.name ?? '');
  const [message, setMessage] = useState(job?.message ?? '');
  const [timing, setTiming] = useState<Timing>(() => {
    const fresh = newTiming(new Date(), Intl.DateTimeFormat().resolvedOptions().timeZone);
    return job ? timingOf(job, fresh) : fresh;
  });
  const [isTimed, setTimed] = useState(job === null);
  const [target, setTarget] = useState<Target>(job?.sessionTarget ?? 'content');
  const [model, setModel] = useState(job?.model ?? '');
  const [policy, setPolicy] = useState(job?.policy.join(', ') ?? '');
  const [catchUp, setCatchUp] = useState(job?.catchUp ?? false);
  const [withBeat, setWithBeat] = useState(job?.wake === 'heartbeat');
  const isMessage = job === null || Boolean(job.message);
  const fields = useMemo((): JobFields | null => {
    const when = timingFields(timing);
    if (!when || (isMessage && !message.trim())) {
      return null;
    }
    return {
      // An unchanged rhythm keeps counting from where it began.
      ...(isTimed ? when : {}),
      ...(isMessage ? { message: message.trim() } : {}),
      ...(name.trim() ? { name: name.trim() } : {}),
      ...(target === 'content' || target === job?.sessionTarget ? {} : { sessionTarget: target }),
      ...(model ? { model } : {}),
      policy: policy.split(/[\s,]+/).filter(Boolean),
      ...(job !== null || catchUp ? { catchUp } : {}),
      wake: withBeat ? 'heartbeat' : 'now'
    };
  }, [timing, isTimed, isMessage, message, name, target, model, policy, catchUp, withBeat, job]);
  const { preview, problem } = usePreview(jobs, fields, job?.id ?? null);
  const isOfTime = problem !== null && /^`(at|everyMs|cron|tz)`/.test(problem);
  const save = () => {
    if (fields && online) {
      void (job ? jobs.change({ ...fields, jobId: job.id } as ScheduleUpdateParams) : jobs.create(fields));
    }
  };
  const targets: Array<[Target, string]> = [
    ...(job === null ? [['content', trans.__('Chosen by what it does')] as [Target, string]] : []),
    ['isolated', trans.__('In a conversation of its own')],
    ['main', trans.__('In your conversation')]
  ];
  const close = () => jobs.choose(job ? { kind: 'job', id: job.id, isEdited: false } : null);
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={close}>
          {trans.__('← All jobs')}
        </button>
        <h3>{job ? trans.__('Edit “%1”', job.name) : trans.__('New job')}</h3>
      </header>
      <form
        className="onyx-Form"
        data-onyx="job-form"
        onSubmit={event => {
          event.preventDefault();
          save();
        }}
      >
        {isMessage && (
          <Field id="onyx-job-message" label={trans.__('What to do')}>
            <textarea
              id="onyx-job-message"
              className="onyx-Input"
              data-onyx="job-message"
              rows={3}
              autoFocus
              placeholder={trans.__('Sum up what changed in data/ since yesterday')}
              value={message}
              onChange={event => setMessage(event.target.value)}
            />
          </Field>
        )}
        <TimingFields
          timing={timing}
          change={next => {
            setTiming(next);
            setTimed(true);
          }}
          help={
            <div className="onyx-Field-help" role="status" data-onyx="job-preview" data-problem={isOfTime}>
              {isOfTime ? problem : preview && previewWords(preview, trans)}
            </div>
          }
        />
        <Field
          id="onyx-job-target"
          label={trans.__('Where')}
          help={
            <div className="onyx-Field-help" data-onyx="job-target-reason">
              {preview &&
                target === 'content' &&
                targetWords(preview.sessionTarget, preview.targetReason, trans)}
            </div>
          }
        >
          <Select
            id="onyx-job-target"
            hook="job-target"
            value={target}
            options={targets}
            choose={setTarget}
          />
        </Field>
        <details className="onyx-Form-more" open={Boolean(job && (job.model || job.policy.length > 0))}>
          <summary>{trans.__('More')}</summary>
          <div className="onyx-Form">
            <Field id="onyx-job-name" label={trans.__('Name')}>
              <input
                id="onyx-job-name"
                className="onyx-Input"
                data-onyx="job-name"
                placeholder={trans.__('Its first words')}
                value={name}
                onChange={event => setName(event.target.value)}
              />
            </Field>
            <Field id="onyx-job-model" label={trans.__('Model')}>
              <Select
                id="onyx-job-model"
                hook="job-model"
                value={model}
                options={modelsFor(job, models, trans)}
                choose={setModel}
              />
            </Field>
            <Field
              id="onyx-job-policy"
              label={trans.__('May use')}
              help={
                <div className="onyx-Field-help">
                  {trans.__(
                    'Tools and families that it may use with nobody there to ask. What else would ask is denied, and its run says so.'
                  )}
                </div>
              }
            >
              <input
                id="onyx-job-policy"
                className="onyx-Input onyx-Input-code"
                data-onyx="job-policy"
                placeholder="exec, group:fs"
                value={policy}
                onChange={event => setPolicy(event.target.value)}
              />
            </Field>
            <label className="onyx-Field-line">
              <input type="checkbox" checked={catchUp} onChange={event => setCatchUp(event.target.checked)} />
              {trans.__('Make up for the newest run that was missed')}
            </label>
            <label className="onyx-Field-line">
              <input
                type="checkbox"
                checked={withBeat}
                onChange={event => setWithBeat(event.target.checked)}
              />
              {trans.__('In your conversation: wait for the next heartbeat')}
            </label>
          </div>
        </details>
        <div className="onyx-Form-actions">
          <button
            type="submit"
            className="onyx-Button onyx-mod-accept"
            data-onyx="job-save"
            disabled={!online || !fields || problem !== null}
          >
            {job ? trans.__('Save') : trans.__('Schedule')}
          </button>
          <button type="button" className="onyx-Button" data-onyx="job-cancel" onClick={close}>
            {trans.__('Cancel')}
          </button>
          {problem && !isOfTime && (
            <span className="onyx-Note" role="alert" data-onyx="job-problem" data-problem="true">
              {problem}
            </span>
          )}
        </div>
      </form>
    </>
  );
}

/** A job that has a model keeps one: the server takes no empty name. */
function modelsFor(
  job: JobInfo | null,
  models: readonly string[],
  trans: Ui['trans']
): Array<[string, string]> {
  const ids = [...new Set([...models, ...(job?.model ? [job.model] : [])])];
  const standard: Array<[string, string]> = job?.model ? [] : [['', trans.__('The default for jobs')]];
  return [...standard, ...ids.map((id): [string, string] => [id, id])];
}

function previewWords(preview: SchedulePreview, trans: Ui['trans']): string {
  const [first, ...others] = preview.next;
  // Each time ends with its zone, of which one is enough.
  return first
    ? trans.__('Next: %1', [first, ...others.map(time => time.split(' ').slice(0, 2).join(' '))].join(', '))
    : '';
}

/** What the server makes of the fields, a moment after the last change. */
function usePreview(
  jobs: Jobs,
  fields: JobFields | null,
  jobId: string | null
): { preview: SchedulePreview | null; problem: string | null } {
  const [state, setState] = useState<{ preview: SchedulePreview | null; problem: string | null }>({
    preview: null,
    problem: null
  });
  useEffect(() => {
    if (!fields) {
      setState({ preview: null, problem: null });
      return;
    }
    let isCurrent = true;
    const timer = setTimeout(() => {
      jobs.preview(fields, jobId).then(
        preview => isCurrent && setState({ preview, problem: null }),
        (error: Error) => isCurrent && setState({ preview: null, problem: error.message })
      );
    }, PREVIEW_AFTER_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [jobs, fields, jobId]);
  return state;
}
