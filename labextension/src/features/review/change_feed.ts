/**
 * When to ask the server again what turns changed in notebooks: after its events and after a reconnect,
 * combining several reasons that come together.
 */
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { EventFrame } from '../../protocol/frames';
import type { ConnectionState, SocketClient } from '../../protocol/socket_client';
import type { Methods } from '../../protocol/wire';

type Changes = Methods['notebook.changes'];

interface Subject {
  /** Several reasons to ask within this many milliseconds count as one. */
  debounceMs: number;
  /** Gets each event; true if it is a reason to ask. */
  isRelevant: (frame: EventFrame) => boolean;
  /** What to ask; null if there is nothing to ask about. */
  params: () => Changes['params'] | null;
  /** Takes the answer to these params, unless a later one was requested meanwhile. */
  take: (changes: Changes['result'], params: Changes['params']) => void;
}

export class ChangeFeed implements IDisposable {
  constructor(
    private readonly client: SocketClient,
    private readonly subject: Subject
  ) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onState, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Asks the server again, soon. */
  refresh(): void {
    this._timer ??= setTimeout(() => void this.load(), this.subject.debounceMs);
  }

  /** Asks now. Without a connection it does nothing; reconnecting asks again. */
  async load(): Promise<void> {
    clearTimeout(this._timer);
    this._timer = undefined;
    const params = this.subject.params();
    if (this._isDisposed || params === null || this.client.state !== 'open') {
      return;
    }
    const request = ++this._lastRequest;
    try {
      const changes = await this.client.request('notebook.changes', params);
      if (request === this._lastRequest && !this._isDisposed) {
        this.subject.take(changes, params);
      }
    } catch {
      // The connection's own state says what is wrong; the last answer stays.
    }
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    Signal.clearData(this);
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (this.subject.isRelevant(frame)) {
      this.refresh();
    }
  }

  private _onState(_: SocketClient, state: ConnectionState): void {
    if (state === 'open') {
      this.refresh();
    }
  }

  private _isDisposed = false;
  private _lastRequest = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
