/**
 * The events of the sessions that this tab follows: each once, in order, even across a lost connection. It
 * only keeps track of numbers; the models interpret the events.
 */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from './frames';
import type { ConnectionState, SocketClient } from './socket_client';

/** An event with its session (`chat.delta` doesn't include it). */
export interface SessionEvent {
  sessionKey: string;
  frame: EventFrame;
}

interface Followed {
  /** The newest event seen, 0 before the first. */
  seen: number;
  /**
   * The server's position when following began: where to resume if no event has come since. Null until it
   * answers.
   */
  start: number | null;
}

const MAX_FOLLOWED = 8;
/** Two computed start times of the same server differ by the time that the answers took. */
const SAME_SERVER_MS = 3_000;

export class SessionEvents implements IDisposable {
  constructor(private readonly client: SocketClient) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onState, this);
  }

  get event(): ISignal<this, SessionEvent> {
    return this._event;
  }

  /** Names a session whose events cannot be resumed without a gap: read it again. */
  get broken(): ISignal<this, string> {
    return this._broken;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Follows the session; an active run is replayed from its start. */
  async follow(sessionKey: string): Promise<void> {
    const entry: Followed = { seen: 0, start: null };
    this._followed.delete(sessionKey);
    this._followed.set(sessionKey, entry);
    for (const oldest of [...this._followed.keys()].slice(0, -MAX_FOLLOWED)) {
      this._followed.delete(oldest);
    }
    const { seq } = await this.client.request('sessions.subscribe', { sessionKey });
    entry.start = seq;
    if (this._serverSinceMs === null) {
      void this._isAnotherServer();
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    const data = frame.data as { sessionKey?: string | null; runId?: string; seq?: number | null };
    const sessionKey = data.sessionKey ?? (data.runId ? this._sessionOfRun.get(data.runId) : undefined);
    if (!sessionKey) {
      return;
    }
    if (data.runId) {
      this._sessionOfRun.set(data.runId, sessionKey);
    }
    const followed = this._followed.get(sessionKey);
    if (followed && typeof data.seq === 'number') {
      if (data.seq <= followed.seen) {
        return;
      }
      followed.seen = data.seq;
    }
    this._event.emit({ sessionKey, frame });
  }

  private _onState(_: SocketClient, state: ConnectionState): void {
    if (state === 'open') {
      void this._resumeAll();
    }
  }

  private async _resumeAll(): Promise<void> {
    if (this._followed.size === 0) {
      return;
    }
    const isNew = await this._isAnotherServer();
    // A copy: reading a session again follows it anew, and would make it come up once more.
    for (const sessionKey of [...this._followed.keys()]) {
      void (isNew ? this._restart(sessionKey) : this._resume(sessionKey));
    }
  }

  /** A restarted server numbers from the start again, and may by now have come as far as we had. */
  private async _isAnotherServer(): Promise<boolean> {
    const before = this._serverSinceMs;
    try {
      const { uptime } = await this.client.request('health.check', {});
      this._serverSinceMs = Date.now() - uptime * 1000;
    } catch {
      return false;
    }
    return before !== null && Math.abs(this._serverSinceMs - before) > SAME_SERVER_MS;
  }

  private _restart(sessionKey: string): void {
    const followed = this._followed.get(sessionKey);
    if (followed) {
      followed.seen = 0;
      this._broken.emit(sessionKey);
    }
  }

  private async _resume(sessionKey: string): Promise<void> {
    const followed = this._followed.get(sessionKey);
    // If nothing was ever received, there is nothing to resume from: the caller was told that following
    // failed, and asks again.
    if (!followed || (followed.start === null && followed.seen === 0)) {
      return;
    }
    const afterSeq = Math.max(followed.seen, followed.start ?? 0);
    try {
      const { seq } = await this.client.request('sessions.subscribe', { sessionKey, afterSeq });
      if (seq < afterSeq) {
        // The server's numbers started over: it was restarted.
        this._restart(sessionKey);
        return;
      }
      // Missed events come right after that answer, so before the answer to a request made now. If they don't
      // reach `seq`, the server no longer keeps them.
      await this.client.request('approvals.list', { sessionKey });
      if (seq > afterSeq && followed.seen < seq) {
        this._broken.emit(sessionKey);
      }
    } catch {
      if (this.client.state === 'open') {
        this._broken.emit(sessionKey);
      }
    }
  }

  private _serverSinceMs: number | null = null;
  private _isDisposed = false;
  private readonly _followed = new Map<string, Followed>();
  private readonly _sessionOfRun = new Map<string, string>();
  private readonly _event = new Signal<this, SessionEvent>(this);
  private readonly _broken = new Signal<this, string>(this);
}
