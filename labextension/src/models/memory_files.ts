/** The memory files of one agent, and how search in them stands. It opens none and changes none. */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../protocol/frames';
import type { ConnectionState, SocketClient } from '../protocol/socket_client';
import type { Agent, MemoryFileInfo, MemoryStatus } from '../protocol/wire';
import { Settled } from './settled';

export class MemoryFiles implements IDisposable {
  constructor(readonly client: SocketClient) {
    this._settled = new Settled(() => void this.load());
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** In the order of the paths; null before they were read. */
  get files(): readonly MemoryFileInfo[] | null {
    return this._files;
  }

  get status(): MemoryStatus | null {
    return this._status;
  }

  get agents(): readonly Agent[] {
    return this._agents;
  }

  /** Whose memory it is; null is the standard agent's. */
  get agentId(): string | null {
    return this._agentId;
  }

  /** Why there is no list, or not the newest one. */
  get problem(): string | null {
    return this._problem;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  file(path: string): MemoryFileInfo | null {
    return this._files?.find(file => file.path === path) ?? null;
  }

  /** Read the list, and keep it current from now on until `close`. */
  async open(): Promise<void> {
    this._isOpen = true;
    await this.load();
  }

  close(): void {
    this._isOpen = false;
  }

  choose(agentId: string | null): void {
    const standard = this._agents.find(agent => agent.default)?.id ?? null;
    const chosen = agentId === standard ? null : agentId;
    if (chosen !== this._agentId) {
      this._agentId = chosen;
      this._files = null;
      this._emit();
      void this.load();
    }
  }

  /** An answer that a newer reading has overtaken is dropped. */
  async load(): Promise<void> {
    const turn = ++this._turn;
    const agentId = this._agentId;
    try {
      const [{ files }, status, { agents }] = await Promise.all([
        this.client.request('memory.files', { agentId }),
        this.client.request('memory.status', {}),
        this.client.request('agents.list', {})
      ]);
      if (turn !== this._turn) {
        return;
      }
      this._files = files;
      this._status = status;
      this._agents = agents;
      this._problem = null;
    } catch (error) {
      if (turn !== this._turn) {
        return;
      }
      this._problem = (error as Error).message;
    }
    this._emit();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._settled.dispose();
      Signal.clearData(this);
    }
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'memory.updated' && this._isOpen) {
      this._settled.ask();
    }
  }

  private _onConnection(_: SocketClient, state: ConnectionState): void {
    if (state === 'open' && this._isOpen) {
      void this.load();
    }
  }

  private _emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private _files: readonly MemoryFileInfo[] | null = null;
  private _status: MemoryStatus | null = null;
  private _agents: readonly Agent[] = [];
  private _agentId: string | null = null;
  private _problem: string | null = null;
  private _isOpen = false;
  private _turn = 0;
  private _isDisposed = false;
  private readonly _settled: Settled;
  private readonly _changed = new Signal<this, void>(this);
}
