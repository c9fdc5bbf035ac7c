/** When a job runs, as a person fills it in, and as the server keeps it. */
import type { JobInfo } from '../../protocol/wire';
import type { JobFields } from './jobs';

export const UNITS = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
export type Unit = keyof typeof UNITS;
/** `daily`, `workdays` and `weekly` are cron expressions that nobody has to know. */
export type Rhythm = 'once' | 'every' | 'daily' | 'workdays' | 'weekly' | 'cron';

/** Every field is there, whatever the rhythm: who changes their mind finds what they typed. */
export interface Timing {
  readonly rhythm: Rhythm;
  /** Of `once`: `2026-05-01T09:00` on this browser's clock. */
  readonly moment: string;
  readonly count: string;
  readonly unit: Unit;
  /** Of `daily`, `workdays` and `weekly`: `09:00`. */
  readonly time: string;
  /** 0 is Sunday. */
  readonly weekday: string;
  readonly cron: string;
  readonly zone: string;
}

export function newTiming(now: Date, zone: string): Timing {
  const soon = new Date(now.getTime() + UNITS.hours);
  soon.setMinutes(0, 0, 0);
  return {
    ...{ rhythm: 'daily', moment: localMoment(soon), count: '30', unit: 'minutes' },
    ...{ time: '09:00', weekday: '1', cron: '0 9 * * *', zone }
  };
}

export function timingOf(job: JobInfo, fallback: Timing): Timing {
  if (job.kind === 'at') {
    return { ...fallback, rhythm: 'once', moment: localMoment(new Date(job.at ?? '')) };
  }
  if (job.kind === 'every') {
    const ms = job.everyMs ?? UNITS.minutes;
    const unit = (Object.keys(UNITS) as Unit[]).reverse().find(one => ms % UNITS[one] === 0) ?? 'seconds';
    return { ...fallback, rhythm: 'every', count: String(ms / UNITS[unit]), unit };
  }
  const cron = job.cron ?? '';
  const zone = job.tz ?? fallback.zone;
  const simple = /^(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-6])$/.exec(cron);
  if (!simple) {
    return { ...fallback, rhythm: 'cron', cron, zone };
  }
  const [, minute, hour, day] = simple;
  const rhythm = day === '*' ? 'daily' : day === '1-5' ? 'workdays' : 'weekly';
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  return { ...fallback, rhythm, time, cron, zone, weekday: rhythm === 'weekly' ? day : fallback.weekday };
}

/** The server's fields; null where something is still to be filled in. */
export function timingFields(timing: Timing): Pick<JobFields, 'at' | 'everyMs' | 'cron' | 'tz'> | null {
  const { rhythm, moment, count, unit, time, weekday, cron, zone } = timing;
  switch (rhythm) {
    case 'once': {
      const at = new Date(moment);
      return Number.isNaN(at.getTime()) ? null : { at: at.toISOString() };
    }
    case 'every': {
      const everyMs = Math.round(Number(count) * UNITS[unit]);
      return Number.isFinite(everyMs) && everyMs > 0 ? { everyMs } : null;
    }
    case 'cron':
      return cron.trim() ? { cron: cron.trim(), tz: zone } : null;
    default: {
      const [hour, minute] = time.split(':').map(Number);
      const day = { daily: '*', workdays: '1-5', weekly: weekday }[rhythm];
      return Number.isFinite(minute) ? { cron: `${minute} ${hour} * * ${day}`, tz: zone } : null;
    }
  }
}

function localMoment(date: Date): string {
  return Number.isNaN(date.getTime())
    ? ''
    : new Date(date.getTime() - date.getTimezoneOffset() * UNITS.minutes).toISOString().slice(0, 16);
}
