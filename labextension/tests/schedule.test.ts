import { nullTranslator } from '@jupyterlab/translation';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { Away } from '../src/features/schedule/away';
import { ofBeat, ofRun } from '../src/features/schedule/job_notices';
import { newTiming, timingFields, timingOf } from '../src/features/schedule/job_timing';
import type { Timing } from '../src/features/schedule/job_timing';
import { firstLine } from '../src/features/schedule/job_words';
import { Jobs } from '../src/features/schedule/jobs';
import type {
  HeartbeatEntry,
  HistoryEntry,
  JobInfo,
  ScheduleFinishedData,
  ScheduleHeartbeatData
} from '../src/protocol/wire';
import { Peer, Refusal, settle } from './peer';

vi.mock('@jupyterlab/apputils', () => ({ Notification: {} }));

const trans = nullTranslator.load('onyx_jupyter');
const NOON = '2026-03-14T12:00:00Z';
const run = (values: Partial<HistoryEntry> = {}): HistoryEntry => ({
  ...{ kind: 'started', jobId: 'a', name: 'Watch', at: NOON, finishedAt: NOON, key: `a@${NOON}` },
  ...{ outcome: 'ok', text: 'All quiet.', denied: [] },
  ...values
});
const job = (values: Partial<JobInfo> = {}): JobInfo => ({
  ...{ id: 'a', name: 'Watch', agentId: 'main', kind: 'every', everyMs: 60_000, when: 'every minute' },
  ...{ message: 'Look around', toolCalls: [], parameters: {}, sessionTarget: 'isolated', targetReason: '' },
  ...{ policy: [], wake: 'now', catchUp: false, enabled: true, createdAt: NOON, running: false },
  ...{ recent: [], failures: 0, missed: 0, disabled: false },
  ...values
});
const list = (...jobs: JobInfo[]) => ({ jobs, total: jobs.length, runsHere: true, problems: [] });

describe('when a job runs', () => {
  const fresh = newTiming(new Date('2026-03-14T12:34:00'), 'Europe/Vienna');
  const fields = (values: Partial<Timing>) => timingFields({ ...fresh, ...values });

  it('is a cron expression for a time of day', () => {
    expect(fields({ rhythm: 'daily', time: '09:05' })).toEqual({ cron: '5 9 * * *', tz: 'Europe/Vienna' });
    expect(fields({ rhythm: 'workdays', time: '18:00' })).toMatchObject({ cron: '0 18 * * 1-5' });
    expect(fields({ rhythm: 'weekly', time: '08:30', weekday: '0' })).toMatchObject({ cron: '30 8 * * 0' });
  });

  it('is milliseconds for an interval, and a moment in UTC for once', () => {
    expect(fields({ rhythm: 'every', count: '1.5', unit: 'hours' })).toEqual({ everyMs: 5_400_000 });
    expect(fields({ rhythm: 'once', moment: '2026-03-15T08:00' })).toEqual({
      at: new Date('2026-03-15T08:00').toISOString()
    });
  });

  it.each<Partial<Timing>>([
    { rhythm: 'every', count: 'often' },
    { rhythm: 'every', count: '0' },
    { rhythm: 'once', moment: '' },
    { rhythm: 'cron', cron: '  ' },
    { rhythm: 'daily', time: '' }
  ])('is open while something is missing: %o', values => {
    expect(fields(values)).toBeNull();
  });

  it.each<[Partial<JobInfo>, Partial<Timing>]>([
    [
      { kind: 'every', everyMs: 7_200_000 },
      { rhythm: 'every', count: '2', unit: 'hours' }
    ],
    [
      { kind: 'every', everyMs: 1500 },
      { rhythm: 'every', count: '1.5', unit: 'seconds' }
    ],
    [
      { kind: 'cron', cron: '5 9 * * 1-5', tz: 'UTC' },
      { rhythm: 'workdays', time: '09:05', zone: 'UTC' }
    ],
    [
      { kind: 'cron', cron: '30 18 * * 3', tz: 'UTC' },
      { rhythm: 'weekly', weekday: '3', time: '18:30' }
    ],
    [
      { kind: 'cron', cron: '*/5 * * * *', tz: 'UTC' },
      { rhythm: 'cron', cron: '*/5 * * * *' }
    ]
  ])('of %o is shown in the form, and means the same', (kept, shown) => {
    const timing = timingOf(job({ everyMs: null, ...kept }), fresh);
    expect(timing).toMatchObject(shown);
    const { everyMs, cron, tz } = kept;
    expect(timingFields(timing)).toEqual(everyMs ? { everyMs } : { cron, tz });
  });
});

describe('what happened while away', () => {
  let peer: Peer;
  let kept: Map<string, string>;
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key)
  };
  const beats: HeartbeatEntry[] = [];
  const away = async (entries: HistoryEntry[], now = '2026-03-14T13:00:00Z') => {
    peer.results = { 'schedule.history': { entries }, 'schedule.heartbeats': { entries: beats } };
    const made = new Away(peer.client, store, 'seen', () => Date.parse(now));
    peer.connect();
    await settle();
    return made;
  };

  beforeEach(() => {
    peer = new Peer();
    kept = new Map([['seen', '2026-03-14T11:00:00Z']]);
    beats.length = 0;
  });

  it('is told by job, with what failed and what was missed', async () => {
    beats.push({ agentId: 'main', at: NOON, outcome: 'ok', text: 'The disk is full.', denied: [] } as never);
    const missed = run({ kind: 'missed', key: null, name: null, outcome: null, count: 3, finishedAt: null });
    const { groups, count, failed } = await away([
      run({ finishedAt: '2026-03-14T12:30:00.5Z', key: 'a@2', outcome: 'failed', error: 'No.' }),
      missed,
      run()
    ]);
    expect(groups).toMatchObject([
      { jobId: 'a', name: 'Watch', runs: 2, failed: 1, missed: 3, last: { outcome: 'failed' } },
      { jobId: null, name: 'main', runs: 1 }
    ]);
    expect([count, failed]).toEqual([6, 1]);
    expect(kept.get('seen')).toBe('2026-03-14T12:30:00.5Z');
  });

  it('is nothing for a browser that has never been here', async () => {
    kept.clear();
    expect((await away([run()])).count).toBe(0);
    expect(kept.get('seen')).toBe('2026-03-14T13:00:00.000Z');
  });

  it('is nothing after a reload', async () => {
    expect((await away([run()], '2026-03-14T12:00:05Z')).count).toBe(0);
    expect(kept.get('seen')).toBe(NOON);
  });

  it('leaves out what was seen, and what had nothing to say', async () => {
    kept.set('seen', NOON);
    const { count } = await away([run({ finishedAt: '2026-03-14T12:10:00Z', outcome: 'silent' }), run()]);
    expect(count).toBe(0);
  });

  it('is told once: what ends while the page is open counts as seen', async () => {
    const made = await away([]);
    peer.emit('schedule.finished', { jobId: 'a', at: '2026-03-14T12:59:00Z' });
    expect(kept.get('seen')).toBe('2026-03-14T12:59:00Z');
    peer.emit('schedule.finished', { jobId: 'a', at: NOON });
    expect(kept.get('seen')).toBe('2026-03-14T12:59:00Z');
    expect(made.count).toBe(0);
  });

  it('is asked for again after an answer that failed', async () => {
    peer.results = { 'schedule.history': new Refusal(1, 'No.'), 'schedule.heartbeats': { entries: [] } };
    new Away(peer.client, store, 'seen');
    peer.connect();
    await settle();
    expect(kept.get('seen')).toBe('2026-03-14T11:00:00Z');
  });

  it('is gone when it is read', async () => {
    const made = await away([run()]);
    expect(made.count).toBe(1);
    made.dismiss();
    expect(made.groups).toEqual([]);
  });
});

describe('a notification', () => {
  let inView = false;
  const ways = { isInView: () => inView, showJob: vi.fn(), showHeartbeat: vi.fn() };
  const ended = (values: Partial<ScheduleFinishedData> = {}) => {
    const data: ScheduleFinishedData = {
      ...{ jobId: 'a', name: 'Watch', key: 'k', at: NOON, outcome: 'ok', text: '## All quiet.\nMore.' },
      ...{ alert: false, disabled: false, denied: [], sessionKey: 's' },
      ...values
    };
    return ofRun(data, ways, trans)[1];
  };

  beforeEach(() => {
    inView = false;
  });

  it('tells the first line of a result, and leads to the job', () => {
    const notice = ended();
    expect(notice).toMatchObject({ type: 'info', message: 'Watch: All quiet.' });
    notice?.actions[0].callback(new MouseEvent('click') as never);
    expect(ways.showJob).toHaveBeenCalledWith('a');
  });

  it.each<Partial<ScheduleFinishedData>>([
    { outcome: 'silent', text: 'NO_REPLY' },
    { outcome: 'failed', error: 'Once.' },
    { outcome: 'aborted' }
  ])('does not come for %o', values => {
    expect(ended(values)).toBeNull();
  });

  it('does not come for what is in view, unless it fails again and again', () => {
    inView = true;
    expect(ended()).toBeNull();
    expect(ended({ denied: ['exec'] })).toBeNull();
    expect(ended({ outcome: 'failed', error: 'No.', alert: true })).toMatchObject({
      type: 'error',
      autoClose: false
    });
  });

  it('stays for a job that was stopped, and for what nobody was there to allow', () => {
    const stopped = ended({ outcome: 'failed', error: 'No.', disabled: true });
    expect(stopped).toMatchObject({
      message: '“Watch” failed too often and was stopped: No.',
      autoClose: false
    });
    expect(ended({ denied: ['exec', 'write'] })?.message).toBe('“Watch” was not allowed to use exec, write');
  });

  it('shows invisible characters of a name as marks', () => {
    expect(ended({ name: 'Wat\u202Ech' })?.message).not.toContain('\u202E');
  });

  it('tells of a heartbeat that has something to say aloud', () => {
    const beat: ScheduleHeartbeatData = {
      ...{ agentId: 'main', at: NOON, outcome: 'ok', acts: true, quiet: false, text: 'The disk is full.' }
    };
    expect(ofBeat(beat, ways, trans)[1]?.message).toBe('The disk is full.');
    expect(ofBeat({ ...beat, quiet: true }, ways, trans)[1]).toBeNull();
    expect(ofBeat({ ...beat, acts: false }, ways, trans)[1]).toBeNull();
    expect(ofBeat({ ...beat, outcome: 'failed', text: null, error: 'No.' }, ways, trans)[1]).toMatchObject({
      type: 'warning'
    });
  });

  it('is short', () => {
    expect(firstLine(`\n\n- ${'x'.repeat(300)}`)).toHaveLength(140);
  });
});

describe('the jobs', () => {
  let peer: Peer;
  let jobs: Jobs;

  beforeEach(async () => {
    peer = new Peer();
    peer.results = {
      'schedule.list': list(job()),
      'schedule.heartbeatStates': { agents: [], runsHere: true },
      'schedule.get': { job: job() },
      'schedule.history': { entries: [run()] }
    };
    jobs = new Jobs(peer.client);
    peer.connect();
    await jobs.open();
  });

  it('are read with the runs of the chosen one', async () => {
    jobs.choose({ kind: 'job', id: 'a', isEdited: false });
    expect(jobs.job?.name).toBe('Watch');
    await settle();
    expect(jobs.history).toHaveLength(1);
  });

  it('lose the choice of one that was removed meanwhile', async () => {
    jobs.choose({ kind: 'job', id: 'a', isEdited: false });
    await settle();
    peer.results['schedule.get'] = new Refusal(-32000, 'Gone.', { code: 'not_found' });
    await jobs.load();
    expect(jobs.chosen).toBeNull();
    expect(jobs.problem).toBeNull();
  });

  it('add what was denied to what a job may use, and run it again', async () => {
    peer.results['schedule.update'] = { job: job() };
    peer.results['schedule.runNow'] = { key: 'k' };
    await jobs.allowAndRun(job({ policy: ['read'] }), ['exec', 'read']);
    expect(peer.askedFor('schedule.update')).toEqual([{ jobId: 'a', policy: ['read', 'exec'] }]);
    expect(peer.askedFor('schedule.runNow')).toEqual([{ jobId: 'a' }]);
  });

  it('say why a run did not start', async () => {
    peer.results['schedule.runNow'] = new Refusal(1, 'The job “Watch” is running already.');
    await jobs.runNow('a');
    expect(jobs.refusal).toBe('The job “Watch” is running already.');
  });
});
