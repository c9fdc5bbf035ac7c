/** What jobs and heartbeats did while no page was there to tell it. */
import type { EventFrame } from '../../protocol/frames';
import type { ConnectionState, SocketClient } from '../../protocol/socket_client';
import type { HeartbeatEntry, HistoryEntry } from '../../protocol/wire';
import { ViewModel } from '../../shared/view_model';
import type { KeyValueStore } from '../chat/tab_memory';

/** A reload takes a few seconds, and nobody was away. */
const MIN_AWAY_MS = 10_000;
const MAX_RUNS = 1000;
const MAX_BEATS = 200;

/** What one job, or the heartbeat of one agent, did. */
export interface AwayGroup {
  /** null for a heartbeat. */
  readonly jobId: string | null;
  readonly name: string;
  readonly runs: number;
  readonly failed: number;
  readonly missed: number;
  /** The newest run; absent if all were missed. */
  readonly last?: HistoryEntry | HeartbeatEntry;
}

interface Event {
  readonly id: string;
  readonly jobId: string | null;
  readonly name: string;
  readonly at: string;
  readonly run?: HistoryEntry | HeartbeatEntry;
  readonly missed: number;
}

export class Away extends ViewModel {
  /** `store` remembers up to when this browser has been told, as the server's time. */
  constructor(
    private readonly client: SocketClient,
    private readonly store: KeyValueStore | null,
    private readonly key: string,
    private readonly now: () => number = Date.now
  ) {
    super();
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
    this._onConnection(client, client.state);
  }

  /** Those who did something, the newest first. */
  get groups(): readonly AwayGroup[] {
    return groupsOf(this._events);
  }

  /** Runs that ended, and planned times that were missed. */
  get count(): number {
    return this._events.reduce((sum, { run, missed }) => sum + (run ? 1 : missed), 0);
  }

  get failed(): number {
    return this._events.filter(({ run }) => run?.outcome === 'failed').length;
  }

  /** The user has read it. */
  dismiss(): void {
    this._events = [];
    this.emit();
  }

  private async _look(): Promise<void> {
    const since = this._seen;
    if (since === null) {
      this._seen = new Date(this.now()).toISOString();
      return;
    }
    const [{ entries }, beats] = await Promise.all([
      this.client.request('schedule.history', { since, limit: MAX_RUNS }),
      this.client.request('schedule.heartbeats', { limit: MAX_BEATS })
    ]);
    const found = [...entries.map(eventOf), ...beats.entries.map(beatEvent)].filter(
      ({ at, run }) => isAfter(at, since) && run?.outcome !== 'silent'
    );
    if (found.length === 0 || this.isDisposed) {
      return;
    }
    const times = found.map(({ at }) => at).sort((left, right) => Date.parse(left) - Date.parse(right));
    this._seen = times[times.length - 1];
    if (this.now() - Date.parse(times[0]) >= MIN_AWAY_MS) {
      const known = new Set(this._events.map(({ id }) => id));
      this._events = [...found.filter(({ id }) => !known.has(id)), ...this._events];
      this.emit();
    }
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'schedule.finished' || frame.event === 'schedule.heartbeat') {
      const { at } = frame.data as { at: string };
      if (this._seen === null || isAfter(at, this._seen)) {
        this._seen = at;
      }
    }
  }

  private _onConnection(_: SocketClient, state: ConnectionState): void {
    if (state === 'open') {
      // Without an answer nothing is marked as seen: the next connection asks again.
      void this._look().catch(() => undefined);
    }
  }

  private get _seen(): string | null {
    return this.store?.getItem(this.key) ?? null;
  }

  private set _seen(at: string) {
    this.store?.setItem(this.key, at);
  }

  private _events: readonly Event[] = [];
}

function eventOf(entry: HistoryEntry): Event {
  const isMissed = entry.kind === 'missed';
  return {
    id: entry.key ?? `${entry.jobId} ${entry.at}`,
    jobId: entry.jobId,
    name: entry.name ?? entry.jobId,
    at: entry.finishedAt ?? entry.at,
    run: isMissed ? undefined : entry,
    missed: isMissed ? (entry.count ?? 1) : 0
  };
}

function beatEvent(entry: HeartbeatEntry): Event {
  return { id: `beat ${entry.at}`, jobId: null, name: entry.agentId, at: entry.at, run: entry, missed: 0 };
}

function groupsOf(events: readonly Event[]): readonly AwayGroup[] {
  const groups = new Map<string, AwayGroup>();
  for (const { jobId, name, run, missed } of events) {
    const key = jobId ?? `beat ${name}`;
    const before = groups.get(key) ?? { jobId, name, runs: 0, failed: 0, missed: 0 };
    groups.set(key, {
      ...before,
      // A missed time knows only the id.
      name: before.name === jobId ? name : before.name,
      runs: before.runs + (run ? 1 : 0),
      failed: before.failed + (run?.outcome === 'failed' ? 1 : 0),
      missed: before.missed + missed,
      last: before.last ?? run
    });
  }
  return [...groups.values()];
}

/** Both are times of the server, which writes no fraction for a whole second. */
function isAfter(left: string, right: string): boolean {
  return left !== right && Date.parse(left) >= Date.parse(right);
}
