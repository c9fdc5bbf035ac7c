/** What was allowed for good, as the server has it now. It grants nothing itself: that happens where one is asked. */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../protocol/frames';
import type { ConnectionState, SocketClient } from '../protocol/socket_client';
import type { GrantInfo } from '../protocol/wire';

export class Grants implements IDisposable {
  constructor(private readonly client: SocketClient) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Newest first; null before they were read. */
  get grants(): readonly GrantInfo[] | null {
    return this._grants;
  }

  get problem(): string | null {
    return this._problem;
  }

  /** What was revoked last from here, to say so. */
  get revoked(): GrantInfo | null {
    return this._revoked;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Read them, and from now on keep them current until `close`. */
  async open(): Promise<void> {
    this._isOpen = true;
    await this._load();
  }

  close(): void {
    this._isOpen = false;
    this._grants = null;
    this._revoked = null;
    this._problem = null;
  }

  /** From its next call on Onyx asks again. */
  async revoke(grant: GrantInfo): Promise<void> {
    try {
      await this.client.request('grants.revoke', { grantId: grant.id });
      this._revoked = grant;
      this._grants = this._grants?.filter(one => one.id !== grant.id) ?? null;
      this._problem = null;
    } catch (error) {
      this._problem = (error as Error).message;
    }
    this._emit();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      Signal.clearData(this);
    }
  }

  /** An answer that a newer reading has overtaken is dropped. */
  private async _load(): Promise<void> {
    const turn = ++this._turn;
    let found: readonly GrantInfo[] | null = null;
    let problem: string | null = null;
    try {
      const { grants } = await this.client.request('grants.list', {});
      found = [...grants].sort((left, right) => right.createdAt.localeCompare(left.createdAt));
    } catch (error) {
      problem = (error as Error).message;
    }
    if (turn !== this._turn || !this._isOpen) {
      return;
    }
    this._grants = found ?? this._grants;
    this._problem = problem;
    this._emit();
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'grants.updated' && this._isOpen) {
      void this._load();
    }
  }

  private _onConnection(_: SocketClient, state: ConnectionState): void {
    if (state === 'open' && this._isOpen) {
      void this._load();
    }
  }

  private _emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private _grants: readonly GrantInfo[] | null = null;
  private _problem: string | null = null;
  private _revoked: GrantInfo | null = null;
  private _isOpen = false;
  private _turn = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}
