/** When a job runs: a rhythm, and what that needs. */
import type { ReactNode } from 'react';

import { useUi } from '../../shared/ui_context';
import { UNITS } from './job_timing';
import type { Rhythm, Timing, Unit } from './job_timing';

interface DetailsProps {
  timing: Timing;
  change: (timing: Timing) => void;
}

interface TimingFieldsProps extends DetailsProps {
  /** What it comes to. */
  children: ReactNode;
}

export function TimingFields({ timing, change, children }: TimingFieldsProps): JSX.Element {
  const { trans } = useUi();
  const rhythms: Record<Rhythm, string> = {
    once: trans.__('Once'),
    every: trans.__('Again and again'),
    daily: trans.__('Every day'),
    workdays: trans.__('Monday to Friday'),
    weekly: trans.__('Once a week'),
    cron: trans.__('By a cron expression')
  };
  return (
    <div className="onyx-Field">
      <label htmlFor="onyx-job-rhythm">{trans.__('When')}</label>
      <div>
        <div className="onyx-Timing">
          <select
            id="onyx-job-rhythm"
            className="onyx-Input"
            data-onyx="job-rhythm"
            value={timing.rhythm}
            onChange={event => change({ ...timing, rhythm: event.target.value as Rhythm })}
          >
            {Object.entries(rhythms).map(([rhythm, name]) => (
              <option key={rhythm} value={rhythm}>
                {name}
              </option>
            ))}
          </select>
          <Details {...{ timing, change }} />
        </div>
        {children}
      </div>
    </div>
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
          <select
            className="onyx-Input"
            data-onyx="job-unit"
            aria-label={trans.__('Unit')}
            value={timing.unit}
            onChange={event => change({ ...timing, unit: event.target.value as Unit })}
          >
            {unitsIn(trans).map(([unit, name]) => (
              <option key={unit} value={unit}>
                {name}
              </option>
            ))}
          </select>
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
            <select
              className="onyx-Input"
              data-onyx="job-weekday"
              aria-label={trans.__('Day')}
              value={timing.weekday}
              onChange={event => change({ ...timing, weekday: event.target.value })}
            >
              {weekdays().map((name, day) => (
                <option key={name} value={String(day)}>
                  {name}
                </option>
              ))}
            </select>
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

function unitsIn(trans: ReturnType<typeof useUi>['trans']): Array<[Unit, string]> {
  const names: Record<Unit, string> = {
    seconds: trans.__('seconds'),
    minutes: trans.__('minutes'),
    hours: trans.__('hours'),
    days: trans.__('days')
  };
  return (Object.keys(UNITS) as Unit[]).map(unit => [unit, names[unit]]);
}

/** In the browser's language, Sunday first. */
function weekdays(): string[] {
  const format = new Intl.DateTimeFormat(undefined, { weekday: 'long', timeZone: 'UTC' });
  return Array.from({ length: 7 }, (_, day) => format.format(new Date(Date.UTC(2026, 1, 1 + day))));
}
