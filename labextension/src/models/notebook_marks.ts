/**
 * What turns changed in one notebook and nobody has decided about yet: kept current from the server, with what a person
 * does about it. It knows no widget and keeps nothing: after a reload the server says the same again.
 */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../protocol/frames';
import type { ConnectionState, SocketClient } from '../protocol/socket_client';
import type { CellMark, NotebookReverted } from '../protocol/wire';
import { nameOf } from './mark_words';

const TOGETHER_MS = 120;

export class NotebookMarks implements IDisposable {
  constructor(
    private readonly client: SocketClient,
    private readonly path: () => string
  ) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onState, this);
    this.refresh();
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get marks(): readonly CellMark[] {
    return this._marks;
  }

  /** What came of the last revert where it left something alone; null when it is read. */
  get outcome(): NotebookReverted | null {
    return this._outcome;
  }

  /** Why the last thing that a person asked for was not done. */
  get problem(): string | null {
    return this._problem;
  }

  get isBusy(): boolean {
    return this._isBusy;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Ask the server again, soon; several wishes within a moment are one. */
  refresh(): void {
    this._timer ??= setTimeout(() => void this._load(), TOGETHER_MS);
  }

  /** Take changes as they are: of these cells, or with null all. */
  async keep(cellIds: readonly string[] | null): Promise<void> {
    await this._act(async () => {
      await this.client.request('notebook.accept', this._params(cellIds));
    });
  }

  /** Make these cells, or with null all, as they were. */
  async revert(cellIds: readonly string[] | null): Promise<void> {
    await this._act(async () => {
      const outcome = await this.client.request('notebook.reject', this._params(cellIds), 60_000);
      this._outcome = outcome.leftAlone.length > 0 ? outcome : null;
    });
  }

  /** The words about the last revert have been read. */
  dismiss(): void {
    this._outcome = null;
    this._problem = null;
    this._emit();
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

  private _params(cellIds: readonly string[] | null): { path: string; cellIds?: string[] } {
    return { path: this.path(), ...(cellIds === null ? {} : { cellIds: [...cellIds] }) };
  }

  private async _act(action: () => Promise<void>): Promise<void> {
    if (this._isBusy) {
      return;
    }
    this._isBusy = true;
    this._outcome = null;
    this._problem = null;
    this._emit();
    try {
      await action();
    } catch (error) {
      this._problem = String((error as Error).message ?? error);
    }
    this._isBusy = false;
    await this._load();
  }

  private async _load(): Promise<void> {
    clearTimeout(this._timer);
    this._timer = undefined;
    if (this._isDisposed || this.client.state !== 'open') {
      return;
    }
    const path = this.path();
    const request = ++this._lastRequest;
    try {
      const { marks } = await this.client.request('notebook.changes', { path });
      if (request === this._lastRequest) {
        this._marks = marks;
      }
    } catch {
      // The connection's own state tells what is wrong; the marks of before stay.
    }
    this._emit();
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'notebook.changes_updated') {
      // The server follows links, so that only the name is sure to be the same.
      const name = nameOf(this.path());
      if (!frame.data.paths || frame.data.paths.some(path => nameOf(path) === name || !path.includes('.'))) {
        this._outcome = null; // it was about what is no longer so
        this.refresh();
      }
    } else if (frame.event === 'session.updated' && frame.data.activity === 'idle') {
      const { sessionKey } = frame.data;
      if (this._marks.some(mark => mark.working && mark.turns.some(turn => turn.sessionKey === sessionKey))) {
        this.refresh();
      }
    }
  }

  private _onState(_: SocketClient, state: ConnectionState): void {
    if (state === 'open') {
      this.refresh();
    }
  }

  private _emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private _marks: readonly CellMark[] = [];
  private _outcome: NotebookReverted | null = null;
  private _problem: string | null = null;
  private _isBusy = false;
  private _isDisposed = false;
  private _lastRequest = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private readonly _changed = new Signal<this, void>(this);
}
