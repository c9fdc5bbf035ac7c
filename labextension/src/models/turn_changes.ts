/**
 * What each turn of the session in front did to notebooks, and undoing it. It keeps nothing: the server says the same
 * again after a reload.
 */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../protocol/frames';
import type { ConnectionState, SocketClient } from '../protocol/socket_client';
import type { NotebookReverted, TurnInfo } from '../protocol/wire';

const TOGETHER_MS = 200;

/** A turn with what goes on about it here: being undone, what came of it, why it was not done. */
export interface TurnState {
  readonly turn: TurnInfo;
  readonly isBusy: boolean;
  readonly outcome: NotebookReverted | null;
  readonly problem: string | null;
}

type Doing = Omit<TurnState, 'turn'>;

const IDLE: Doing = { isBusy: false, outcome: null, problem: null };

export class TurnChanges implements IDisposable {
  constructor(private readonly client: SocketClient) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onState, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Look at this session from now on; null is one that the server does not know yet. */
  follow(sessionKey: string | null): void {
    if (sessionKey !== this._sessionKey) {
      this._sessionKey = sessionKey;
      this._states = new Map();
      this._doing.clear();
      this._emit();
      this._refresh();
    }
  }

  /** By run; another object only where something about it is new. */
  get turns(): ReadonlyMap<string, TurnState> {
    return this._states;
  }

  async undo(runId: string): Promise<void> {
    await this._act(runId, 'notebook.undo');
  }

  async putBack(runId: string): Promise<void> {
    await this._act(runId, 'notebook.put_back');
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      clearTimeout(this._timer);
      this.client.event.disconnect(this._onEvent, this);
      this.client.stateChanged.disconnect(this._onState, this);
      Signal.clearData(this);
    }
  }

  private async _act(runId: string, method: 'notebook.undo' | 'notebook.put_back'): Promise<void> {
    const sessionKey = this._sessionKey;
    if (sessionKey === null || this._doing.get(runId)?.isBusy) {
      return;
    }
    this._do(runId, { ...IDLE, isBusy: true });
    let done = IDLE;
    try {
      done = { ...IDLE, outcome: await this.client.request(method, { sessionKey, runId }, 120_000) };
    } catch (error) {
      done = { ...IDLE, problem: String((error as Error).message ?? error) };
    }
    await this._load();
    if (sessionKey === this._sessionKey) {
      this._do(runId, done);
    }
  }

  private _do(runId: string, doing: Doing): void {
    this._doing.set(runId, doing);
    const state = this._states.get(runId);
    if (state) {
      this._states = new Map(this._states).set(runId, { turn: state.turn, ...doing });
    }
    this._emit();
  }

  private _refresh(): void {
    this._timer ??= setTimeout(() => void this._load(), TOGETHER_MS);
  }

  private async _load(): Promise<void> {
    clearTimeout(this._timer);
    this._timer = undefined;
    const sessionKey = this._sessionKey;
    if (this._isDisposed || sessionKey === null || this.client.state !== 'open') {
      return;
    }
    const request = ++this._lastRequest;
    try {
      const { turns } = await this.client.request('notebook.changes', { sessionKey });
      if (request !== this._lastRequest || sessionKey !== this._sessionKey) {
        return;
      }
      this._states = new Map(turns.map(turn => [turn.runId, this._state(turn)]));
      this._emit();
    } catch {
      // The connection's own state tells what is wrong; what was known stays.
    }
  }

  private _state(turn: TurnInfo): TurnState {
    const known = this._states.get(turn.runId);
    const isSame = known && JSON.stringify(known.turn) === JSON.stringify(turn);
    return isSame ? known : { turn, ...(this._doing.get(turn.runId) ?? IDLE) };
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    const isOurs = (key: string | null | undefined) => !key || key === this._sessionKey;
    if (frame.event === 'notebook.changes_updated' && isOurs(frame.data.sessionKey)) {
      this._refresh();
    }
  }

  private _onState(_: SocketClient, state: ConnectionState): void {
    if (state === 'open') {
      this._refresh();
    }
  }

  private _emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private _sessionKey: string | null = null;
  private _states: ReadonlyMap<string, TurnState> = new Map();
  private readonly _doing = new Map<string, Doing>();
  private _isDisposed = false;
  private _lastRequest = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private readonly _changed = new Signal<this, void>(this);
}
