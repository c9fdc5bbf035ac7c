/** JupyterLab's notifications of runs that ended: one for each job, however often it runs. */
import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { ScheduleFinishedData, ScheduleHeartbeatData } from '../../protocol/wire';
import { withMarks } from '../../shared/visible_characters';
import { firstLine } from './job_words';

const SHOWN_MS = 8000;

interface Notice {
  readonly type: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly autoClose: number | false;
  readonly actions: Notification.IAction[];
}

interface Ways {
  /** Whether that job, or the conversation of its run, is in view: then its answer is seen without a notification. */
  isInView: (jobId: string, sessionKey: string | null) => boolean;
  showJob: (jobId: string) => void;
  showHeartbeat: (agentId: string) => void;
}

/** Shows what happens from now on. */
export function notifyOfRuns(client: SocketClient, ways: Ways, trans: TranslationBundle): void {
  const shown = new Map<string, string>();
  client.event.connect((_, frame: EventFrame) => {
    const [key, notice] =
      frame.event === 'schedule.finished'
        ? ofRun(frame.data as unknown as ScheduleFinishedData, ways, trans)
        : frame.event === 'schedule.heartbeat'
          ? ofBeat(frame.data as unknown as ScheduleHeartbeatData, ways, trans)
          : [null, null];
    if (key !== null && notice) {
      const { message, type, ...options } = notice;
      const id = shown.get(key);
      if (!id || !Notification.update({ id, message, type, ...options })) {
        shown.set(key, Notification.emit(message, type, options));
      }
    }
  });
}

/** What to tell of a run, if anything. */
export function ofRun(
  run: ScheduleFinishedData,
  ways: Ways,
  trans: TranslationBundle
): [string, Notice | null] {
  const { jobId, outcome, alert, disabled, sessionKey } = run;
  const name = withMarks(run.name);
  const show = { label: trans.__('Show'), callback: () => ways.showJob(jobId) };
  const tell = (type: Notice['type'], message: string, stays = false): [string, Notice] => [
    jobId,
    { type, message, autoClose: stays ? false : SHOWN_MS, actions: [show] }
  ];
  const denied = run.denied ?? [];
  if (outcome === 'failed' && (alert || disabled)) {
    const why = withMarks(firstLine(run.error ?? ''));
    return disabled
      ? tell('error', trans.__('“%1” failed too often and was stopped: %2', name, why), true)
      : tell('error', trans.__('“%1” failed: %2', name, why), true);
  }
  if (ways.isInView(jobId, sessionKey ?? null)) {
    return [jobId, null];
  }
  if (denied.length > 0) {
    return tell('warning', trans.__('“%1” was not allowed to use %2', name, denied.join(', ')), true);
  }
  if (outcome === 'ok') {
    return tell('info', `${name}: ${withMarks(firstLine(run.text ?? '')) || trans.__('done')}`);
  }
  return [jobId, null];
}

/** What to tell of a heartbeat, if anything. */
export function ofBeat(
  beat: ScheduleHeartbeatData,
  ways: Ways,
  trans: TranslationBundle
): [string, Notice | null] {
  const { agentId, acts, quiet, outcome, text, error } = beat;
  const key = `heartbeat ${agentId}`;
  if (!acts || quiet) {
    return [key, null];
  }
  const show = { label: trans.__('Show'), callback: () => ways.showHeartbeat(agentId) };
  const said = withMarks(firstLine(text ?? error ?? ''));
  return outcome === 'ok'
    ? [key, { type: 'info', message: said, autoClose: SHOWN_MS, actions: [show] }]
    : [
        key,
        {
          type: 'warning',
          message: trans.__('The heartbeat failed: %1', said),
          autoClose: SHOWN_MS,
          actions: [show]
        }
      ];
}
