/**
 * The connection to the server: requests with answers, events, and reconnecting. Messages are not queued; the
 * caller decides what to do without a connection.
 */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { ConnectionLost, RequestError, RequestTimeout, parseFrame } from './frames';
import type { EventFrame, MethodName, ResponseFrame } from './frames';
import type { Methods } from './wire';

export type ConnectionState = 'connecting' | 'open' | 'offline';

/** The part of the browser's WebSocket that is used here. */
export interface SocketLike {
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  send(text: string): void;
  close(): void;
}

interface SocketClientOptions {
  openSocket: () => SocketLike;
  random?: () => number;
  requestTimeoutMs?: number;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;

interface Pending {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
  timer: ReturnType<typeof setTimeout>;
}

export class SocketClient implements IDisposable {
  constructor(private readonly options: SocketClientOptions) {}

  /** Emits every event of the server, in order. */
  get event(): ISignal<this, EventFrame> {
    return this._event;
  }

  get stateChanged(): ISignal<this, ConnectionState> {
    return this._stateChanged;
  }

  get state(): ConnectionState {
    return this._state;
  }

  /** How many times in a row connecting has failed; 0 while open. */
  get failures(): number {
    return this._failures;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Connects now; "Reconnect" uses it to skip a longer wait. */
  connect(): void {
    if (this._isDisposed || this._socket) {
      return;
    }
    clearTimeout(this._retryTimer);
    this._setState('connecting');
    let socket: SocketLike;
    try {
      socket = this.options.openSocket();
    } catch {
      this._retryLater();
      return;
    }
    this._socket = socket;
    this._connectTimer = setTimeout(() => this._drop(), CONNECT_TIMEOUT_MS);
    socket.onopen = () => this._onOpen();
    socket.onmessage = (event: { data: unknown }) => this._onMessage(event.data);
    socket.onclose = () => this._drop();
  }

  /**
   * Asks the server. Rejects with RequestError (the server refused), ConnectionLost (not sent, or unknown
   * whether it arrived) or RequestTimeout.
   */
  request<M extends MethodName>(
    method: M,
    params: Methods[M]['params'],
    timeoutMs = this.options.requestTimeoutMs ?? 30_000
  ): Promise<Methods[M]['result']> {
    if (!this._socket || this._state !== 'open') {
      return Promise.reject(new ConnectionLost(false));
    }
    const id = String(++this._lastId);
    const text = JSON.stringify({ id, method, params });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this._pending.delete(id);
        reject(new RequestTimeout(method, timeoutMs));
      }, timeoutMs);
      this._pending.set(id, { resolve, reject, timer });
      this._socket?.send(text);
    });
  }

  /**
   * After sleep or a network change: checks whether the other side is still there, and reconnects at once if
   * not.
   */
  async probe(): Promise<void> {
    if (this._state !== 'open') {
      this.connect();
      return;
    }
    try {
      await this.request('health.check', {}, PROBE_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof RequestTimeout) {
        this._drop();
        this.connect();
      }
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._drop();
    clearTimeout(this._retryTimer);
    Signal.clearData(this);
  }

  private _onOpen(): void {
    clearTimeout(this._connectTimer);
    this._failures = 0;
    this._setState('open');
  }

  private _onMessage(text: unknown): void {
    const frame = typeof text === 'string' ? parseFrame(text) : null;
    if (frame === null) {
      return;
    }
    if ('event' in frame) {
      this._event.emit(frame);
    } else {
      this._resolveRequest(frame);
    }
  }

  private _resolveRequest(frame: ResponseFrame): void {
    const pending = this._pending.get(frame.id);
    if (!pending) {
      return;
    }
    this._pending.delete(frame.id);
    clearTimeout(pending.timer);
    if (frame.error) {
      pending.reject(new RequestError(frame.error.code, frame.error.message, frame.error.data));
    } else {
      pending.resolve(frame.result as never);
    }
  }

  /** Drops the socket, fails the pending requests, and reconnects later unless disposed. */
  private _drop(): void {
    const socket = this._socket;
    if (!socket) {
      return;
    }
    this._socket = null;
    clearTimeout(this._connectTimer);
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    const waiting = [...this._pending.values()];
    this._pending.clear();
    if (this._isDisposed) {
      this._state = 'offline';
    } else {
      this._retryLater();
    }
    for (const pending of waiting) {
      clearTimeout(pending.timer);
      pending.reject(new ConnectionLost(true));
    }
  }

  private _retryLater(): void {
    const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this._failures);
    const delay = longest / 2 + (longest / 2) * (this.options.random ?? Math.random)();
    this._failures += 1;
    this._retryTimer = setTimeout(() => this.connect(), delay);
    this._setState('offline');
  }

  private _setState(state: ConnectionState): void {
    if (state !== this._state) {
      this._state = state;
      this._stateChanged.emit(state);
    }
  }

  private _socket: SocketLike | null = null;
  private _state: ConnectionState = 'offline';
  private _failures = 0;
  private _lastId = 0;
  private _isDisposed = false;
  private _retryTimer: ReturnType<typeof setTimeout> | undefined;
  private _connectTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly _pending = new Map<string, Pending>();
  private readonly _event = new Signal<this, EventFrame>(this);
  private readonly _stateChanged = new Signal<this, ConnectionState>(this);
}
