/** When a job runs: a rhythm, and what that needs. */
import type { ReactNode } from 'react';

import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { Field, Select } from './fields';
import type { Rhythm, Timing, Unit } from './job_timing';

interface DetailsProps {
  timing: Timing;
  change: (timing: Timing) => void;
}

interface TimingFieldsProps extends DetailsProps {
  /** What it comes to. */
  help: ReactNode;
}

export function TimingFields({ timing, change, help }: TimingFieldsProps): JSX.Element {
  const { trans } = useUi();
  const rhythms: ReadonlyArray<readonly [Rhythm, string]> = [
    ['once', trans.__('Once')],
    ['every', trans.__('Again and again')],
    ['daily', trans.__('Every day')],
    ['workdays', trans.__('Monday to Friday')],
    ['weekly', trans.__('Once a week')],
    ['cron', trans.__('By a cron expression')]
  ];
  return (
    <Field id="onyx-job-rhythm" label={trans.__('When')} help={help}>
      <div className="onyx-Timing">
        <Select
          id="onyx-job-rhythm"
          hook="job-rhythm"
          value={timing.rhythm}
          options={rhythms}
          choose={rhythm => change({ ...timing, rhythm })}
        />
        <Details {...{ timing, change }} />
      </div>
    </Field>
  );
}

function Details({ timing, change }: DetailsProps): JSX.Element {
  const { trans } = useUi();
  switch (timing.rhythm) {
    case 'once':
      return (
        <input
          type="datetime-local"
          className="onyx-Input"
          data-onyx="job-moment"
          aria-label={trans.__('Date and time')}
          value={timing.moment}
          onChange={event => change({ ...timing, moment: event.target.value })}
        />
      );
    case 'every':
      return (
        <>
          <input
            className="onyx-Input onyx-Timing-count"
            inputMode="decimal"
            data-onyx="job-count"
            aria-label={trans.__('How many')}
            value={timing.count}
            onChange={event => change({ ...timing, count: event.target.value })}
          />
          <Select
            hook="job-unit"
            label={trans.__('Unit')}
            value={timing.unit}
            options={unitsIn(trans)}
            choose={unit => change({ ...timing, unit })}
          />
        </>
      );
    case 'cron':
      return (
        <input
          className="onyx-Input onyx-Input-code"
          data-onyx="job-cron"
          aria-label={trans.__('Cron expression')}
          placeholder="30 9 * * 1-5"
          value={timing.cron}
          onChange={event => change({ ...timing, cron: event.target.value })}
        />
      );
    default:
      return (
        <>
          {timing.rhythm === 'weekly' && (
            <Select
              hook="job-weekday"
              label={trans.__('Day')}
              value={timing.weekday}
              options={weekdays()}
              choose={weekday => change({ ...timing, weekday })}
            />
          )}
          <input
            type="time"
            className="onyx-Input"
            data-onyx="job-time"
            aria-label={trans.__('Time')}
            value={timing.time}
            onChange={event => change({ ...timing, time: event.target.value })}
          />
        </>
      );
  }
}

function unitsIn(trans: Ui['trans']): Array<[Unit, string]> {
  return [
    ['seconds', trans.__('seconds')],
    ['minutes', trans.__('minutes')],
    ['hours', trans.__('hours')],
    ['days', trans.__('days')]
  ];
}

/** In the browser's language, Sunday first. */
function weekdays(): Array<[string, string]> {
  const format = new Intl.DateTimeFormat(undefined, { weekday: 'long', timeZone: 'UTC' });
  return Array.from({ length: 7 }, (_, day) => [
    String(day),
    format.format(new Date(Date.UTC(2026, 1, 1 + day)))
  ]);
}
