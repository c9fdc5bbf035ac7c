/** A search in memory as it is typed: the newest query's results, and what kept them from being better. */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { SocketClient } from '../protocol/socket_client';
import type { MemoryPassage } from '../protocol/wire';
import { Settled } from './settled';

const PAUSE_MS = 150;
const LIMIT = 20;

export class MemorySearch implements IDisposable {
  constructor(
    private readonly client: SocketClient,
    private readonly agentId: () => string | null
  ) {
    this._settled = new Settled(() => void this.load(), PAUSE_MS);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get query(): string {
    return this._query;
  }

  /** The best first, of the query before while a newer one is under way; null where nothing was searched for. */
  get results(): readonly MemoryPassage[] | null {
    return this._results;
  }

  /** What the results are an answer to; null where there are none. It is behind `query` while one types. */
  get searched(): string | null {
    return this._searched;
  }

  /** What kept the search from being better. */
  get note(): string | null {
    return this._note;
  }

  get problem(): string | null {
    return this._problem;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** What is typed by now; it is searched for when typing pauses. */
  type(query: string): void {
    this._query = query;
    if (query.trim() === '') {
      this._turn += 1;
      this._forget();
    } else {
      this._settled.ask();
    }
    this._changed.emit();
  }

  /** Search once more, now: what is found, or whose memory it is, may have changed. */
  async load(): Promise<void> {
    const query = this._query.trim();
    if (query === '' || this._isDisposed) {
      return;
    }
    const turn = ++this._turn;
    const agentId = this.agentId();
    if (agentId !== this._agentId) {
      this._agentId = agentId; // what another agent remembers has no place here
      this._forget();
      this._changed.emit();
    }
    try {
      const { results, note } = await this.client.request('memory.search', { query, agentId, limit: LIMIT });
      if (turn === this._turn) {
        this._results = results;
        this._searched = query;
        this._note = note ?? null;
        this._problem = null;
      }
    } catch (error) {
      if (turn === this._turn) {
        if (query !== this._searched) {
          this._forget();
        }
        this._problem = (error as Error).message;
      }
    }
    if (turn === this._turn && !this._isDisposed) {
      this._changed.emit();
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._settled.dispose();
      Signal.clearData(this);
    }
  }

  private _forget(): void {
    this._results = this._searched = this._note = this._problem = null;
  }

  private _query = '';
  private _searched: string | null = null;
  private _agentId: string | null = null;
  private _results: readonly MemoryPassage[] | null = null;
  private _note: string | null = null;
  private _problem: string | null = null;
  private _turn = 0;
  private _isDisposed = false;
  private readonly _settled: Settled;
  private readonly _changed = new Signal<this, void>(this);
}
