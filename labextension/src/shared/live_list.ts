/** A list on the server that stays current while it is open. Subclasses define its contents. */
import type { EventFrame } from '../protocol/frames';
import type { ConnectionState, SocketClient } from '../protocol/socket_client';
import { Debounced } from './debounce';
import { ViewModel } from './view_model';

export abstract class LiveList extends ViewModel {
  constructor(readonly client: SocketClient) {
    super();
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  /** Why there is no list, or not the newest one. */
  get problem(): string | null {
    return this._problem;
  }

  /** Why the last action failed; it stays until it is dismissed or another action starts. */
  get refusal(): string | null {
    return this._refusal;
  }

  dismissRefusal(): void {
    if (this._refusal !== null) {
      this._refusal = null;
      this.emit();
    }
  }

  /** Reads the list, and keeps it current until `close`. */
  async open(): Promise<void> {
    this._isOpen = true;
    await this.load();
  }

  close(): void {
    this._isOpen = false;
  }

  /** Drops an answer that a newer reading has overtaken. */
  async load(): Promise<void> {
    const turn = ++this._turn;
    let take: (() => void) | null = null;
    let problem: string | null = null;
    try {
      take = await this.read();
    } catch (error) {
      problem = (error as Error).message;
    }
    if (turn === this._turn && !this.isDisposed) {
      take?.();
      this._problem = problem;
      this.emit();
    }
  }

  override dispose(): void {
    this._debounced.dispose();
    super.dispose();
  }

  /** Asks the server; the returned function applies the answer synchronously. */
  protected abstract read(): Promise<() => void>;

  /** Called with events while the list is open; whether to read it again, after a pause. */
  protected abstract isOutdatedBy(frame: EventFrame): boolean;

  /** Runs an action and records why it failed, if it does. */
  protected async attempt(action: () => Promise<void>): Promise<void> {
    this.dismissRefusal();
    try {
      await action();
    } catch (error) {
      this._refusal = (error as Error).message;
    }
    this.emit();
  }

  /** Marks the reading in progress as outdated. */
  protected invalidatePending(): void {
    this._turn += 1;
  }

  protected forgetProblems(): void {
    this._problem = this._refusal = null;
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (this._isOpen && this.isOutdatedBy(frame)) {
      this._debounced.ask();
    }
  }

  private _onConnection(_: SocketClient, state: ConnectionState): void {
    if (state === 'open' && this._isOpen) {
      void this.load();
    }
  }

  private _problem: string | null = null;
  private _refusal: string | null = null;
  private _isOpen = false;
  private _turn = 0;
  private readonly _debounced = new Debounced(() => {
    if (this._isOpen) {
      void this.load();
    }
  });
}
