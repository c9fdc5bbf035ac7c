/** What the state of jobs, runs and heartbeats is called. */
import type { HistoryEntry, JobInfo, HeartbeatState } from '../../protocol/wire';
import { formatRelative } from '../../shared/relative_time';
import type { Ui } from '../../shared/ui_context';
import { UNITS } from './job_timing';

type Trans = Ui['trans'];
export type Outcome = JobInfo['recent'][number];
export type JobState = 'running' | 'stopped' | 'paused' | 'over' | 'waiting';

export function stateOf(job: JobInfo): JobState {
  if (job.running) {
    return 'running';
  }
  if (job.disabled) {
    return 'stopped';
  }
  if (!job.enabled) {
    return 'paused';
  }
  return job.nextAt ? 'waiting' : 'over';
}

/** In a word or two, for the row. */
export function stateName(job: JobInfo, trans: Trans): string {
  switch (stateOf(job)) {
    case 'running':
      return trans.__('running');
    case 'stopped':
      return trans.__('stopped');
    case 'paused':
      return trans.__('paused');
    case 'over':
      return trans.__('over');
    default:
      return formatRelative(job.nextAt ?? '');
  }
}

export function outcomeName(outcome: Outcome | null | undefined, trans: Trans): string {
  switch (outcome) {
    case 'ok':
      return trans.__('done');
    case 'silent':
      return trans.__('nothing to say');
    case 'failed':
      return trans.__('failed');
    case 'aborted':
      return trans.__('stopped');
    case 'interrupted':
      return trans.__('cut short: the server ended');
    default:
      return trans.__('running');
  }
}

/** Why planned times have passed without a run. */
export function missedWords(entry: HistoryEntry, trans: Trans): string {
  const count = entry.count ?? 1;
  const times = trans._n('%1 run was missed', '%1 runs were missed', count);
  switch (entry.because) {
    case 'running':
      return trans.__('%1: the one before was still going on', times);
    case 'backoff':
      return trans.__('%1: it rested after a failure', times);
    default:
      return trans.__('%1: the server was off, or the computer asleep', times);
  }
}

/** Where the job runs, and why there. */
export function targetWords(target: JobInfo['sessionTarget'], reason: string, trans: Trans): string {
  const where =
    target === 'main' ? trans.__('In your conversation') : trans.__('In a conversation of its own');
  return reason ? `${where}: ${reason}` : where;
}

export function heartbeatName(state: HeartbeatState, trans: Trans): string {
  if (state.running) {
    return trans.__('looking');
  }
  if (!state.enabled) {
    return trans.__('off');
  }
  return state.hasTasks ? formatRelative(state.nextAt ?? '') : trans.__('nothing to do');
}

export function durationWords(ms: number, trans: Trans): string {
  if (ms % UNITS.hours === 0) {
    return trans._n('%1 hour', '%1 hours', ms / UNITS.hours);
  }
  return ms % UNITS.minutes === 0
    ? trans._n('%1 minute', '%1 minutes', ms / UNITS.minutes)
    : trans._n('%1 second', '%1 seconds', ms / UNITS.seconds);
}

/** The first line of a text that may be Markdown, short enough for a notification. */
export function firstLine(text: string, limit = 140): string {
  const line = text.split('\n').find(one => one.trim()) ?? '';
  const plain = line.replace(/^[#>*\-\s]+/, '').trim();
  return plain.length > limit ? `${plain.slice(0, limit - 1)}…` : plain;
}
