/**
 * A skill that a cell wants to run and that nobody has trusted yet. What is shown and trusted comes from the server: the
 * output says no more than which skill it is, since any code in the kernel can write an output.
 */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../protocol/frames';
import type { SocketClient } from '../protocol/socket_client';
import type { SkillDetail } from '../protocol/wire';

export const CONSENT_MIME_TYPE = 'application/vnd.onyx.skill-consent+json';

interface Asked {
  name: string;
  agentId?: string;
}

export class SkillConsent implements IDisposable {
  /** `interrupt` ends the cell of that kernel, which is how a no reaches it. */
  constructor(
    private readonly client: SocketClient,
    private readonly interrupt: (kernelId: string) => Promise<void>
  ) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get name(): string {
    return this._name;
  }

  /** Whether a person can answer here: the output was made here, and did not come with a file. */
  get isAsking(): boolean {
    return this._asked !== null;
  }

  get online(): boolean {
    return this.client.state === 'open';
  }

  /** The version that would run; null until it is there. */
  get detail(): SkillDetail | null {
    return this._detail;
  }

  get problem(): string | null {
    return this._problem;
  }

  update(data: unknown, isTrusted: boolean): void {
    const given = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
    this._name = text(given.name);
    this._kernelId = text(given.kernelId);
    const agentId = text(given.agentId);
    this._asked =
      isTrusted && this._name && this._kernelId ? { name: this._name, ...(agentId && { agentId }) } : null;
    this._detail = null;
    this._changed.emit();
    void this._load();
  }

  /** The version with that hash may run from now on; the cell that waits hears of it from the server. */
  trust = async (hash: string): Promise<void> => {
    if (!this._asked) {
      return;
    }
    try {
      await this.client.request('skills.trust', { ...this._asked, hash });
    } catch (error) {
      await this._load();
      this._say((error as Error).message);
    }
  };

  refuse = async (): Promise<void> => {
    if (!this._asked) {
      return;
    }
    try {
      await this.interrupt(this._kernelId);
    } catch (error) {
      this._say((error as Error).message);
    }
  };

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.client.event.disconnect(this._onEvent, this);
      this.client.stateChanged.disconnect(this._onConnection, this);
      Signal.clearData(this);
    }
  }

  private async _load(): Promise<void> {
    if (!this._asked || !this.online) {
      return;
    }
    const turn = ++this._turn;
    let problem: string | null = null;
    let detail: SkillDetail | null = null;
    try {
      detail = await this.client.request('skills.get', this._asked);
    } catch (error) {
      problem = (error as Error).message;
    }
    if (turn === this._turn) {
      this._detail = detail;
      this._say(problem);
    }
  }

  private _say(problem: string | null): void {
    if (!this._isDisposed) {
      this._problem = problem;
      this._changed.emit();
    }
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'skills.updated') {
      void this._load();
    }
  }

  private _onConnection(): void {
    void this._load();
    this._changed.emit();
  }

  private _asked: Asked | null = null;
  private _name = '';
  private _kernelId = '';
  private _detail: SkillDetail | null = null;
  private _problem: string | null = null;
  private _turn = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
