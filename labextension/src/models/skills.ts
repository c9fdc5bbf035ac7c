/** The skills of this server, the one that is looked at, and trusting it. It runs none. */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../protocol/frames';
import type { ConnectionState, SocketClient } from '../protocol/socket_client';
import type { SkillDetail, SkillInfo } from '../protocol/wire';

export class Skills implements IDisposable {
  constructor(readonly client: SocketClient) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** In the order of precedence; null before they were read. */
  get skills(): readonly SkillInfo[] | null {
    return this._skills;
  }

  get leftOut(): number {
    return this._leftOut;
  }

  /** Why there is no list, or not the newest one. */
  get problem(): string | null {
    return this._problem;
  }

  /** The skill that is looked at, as the list has it now. */
  get selected(): SkillInfo | null {
    return this._skills?.find(skill => skill.id === this._selectedId) ?? null;
  }

  /** Its text, instructions and what changed; null until they are there. */
  get detail(): SkillDetail | null {
    return this._detail?.skill.id === this._selectedId ? this._detail : null;
  }

  get detailProblem(): string | null {
    return this._detailProblem;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Read the list, and keep it current from now on until `close`. */
  async open(): Promise<void> {
    this._isOpen = true;
    await this.load();
  }

  close(): void {
    this._isOpen = false;
  }

  /** An answer that a newer reading has overtaken is dropped. */
  async load(): Promise<void> {
    const turn = ++this._turn;
    try {
      const { skills, leftOut } = await this.client.request('skills.list', {});
      if (turn !== this._turn) {
        return;
      }
      this._skills = skills;
      this._leftOut = leftOut ?? 0;
      this._problem = null;
    } catch (error) {
      if (turn !== this._turn) {
        return;
      }
      this._problem = (error as Error).message;
    }
    if (this.selected) {
      await this._loadDetail();
    }
    this._emit();
  }

  select(id: string | null): void {
    if (id === this._selectedId) {
      return;
    }
    this._selectedId = id;
    this._detail = null;
    this._detailProblem = null;
    this._emit();
    if (id !== null) {
      void this._loadDetail().then(() => this._emit());
    }
  }

  /** The version that was shown may run from now on. */
  async trust(): Promise<void> {
    const shown = this.detail;
    if (!shown) {
      return;
    }
    try {
      const { name, id, hash } = shown.skill;
      await this.client.request('skills.trust', { name, id, hash });
      await this.load();
    } catch (error) {
      await this.load();
      this._detailProblem = (error as Error).message;
      this._emit();
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      Signal.clearData(this);
    }
  }

  private async _loadDetail(): Promise<void> {
    const skill = this.selected;
    if (!skill) {
      return;
    }
    try {
      const detail = await this.client.request('skills.get', { name: skill.name, id: skill.id });
      if (this._selectedId === skill.id) {
        this._detail = detail;
        this._detailProblem = null;
      }
    } catch (error) {
      if (this._selectedId === skill.id) {
        this._detailProblem = (error as Error).message;
      }
    }
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'skills.updated' && this._isOpen) {
      void this.load();
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

  private _skills: readonly SkillInfo[] | null = null;
  private _leftOut = 0;
  private _problem: string | null = null;
  private _selectedId: string | null = null;
  private _detail: SkillDetail | null = null;
  private _detailProblem: string | null = null;
  private _isOpen = false;
  private _turn = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}
