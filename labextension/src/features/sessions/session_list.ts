/** The sessions to choose from, newest first, filtered by a search. */
import type { SocketClient } from '../../protocol/socket_client';
import type { SessionInfo } from '../../protocol/wire';
import { ViewModel } from '../../shared/view_model';

const PAGE = 50;

export class SessionList extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
  }

  get sessions(): readonly SessionInfo[] {
    return this._sessions;
  }

  get total(): number {
    return this._total;
  }

  get isLoading(): boolean {
    return this._isLoading;
  }

  /** The query of the listed sessions; null before the first answer. */
  get query(): string | null {
    return this._query;
  }

  /** The query that failed, if the newest search has failed. */
  get failed(): string | null {
    return this._failed;
  }

  /** What kept the search from being better. */
  get note(): string | null {
    return this._note;
  }

  /** False if the search ran out of time before it had covered everything. */
  get isWhole(): boolean {
    return this._isWhole;
  }

  get problem(): string | null {
    return this._problem;
  }

  /** Reads the first matching sessions; drops the answer to an older search. */
  async load(query = '', limit = PAGE): Promise<void> {
    const turn = ++this._turn;
    this._isLoading = true;
    this.emit();
    try {
      const found = await this.client.request('sessions.list', { query: query || null, limit });
      const { sessions, total, note, isWhole } = found;
      if (turn === this._turn) {
        this._sessions = sessions;
        this._note = note ?? null;
        this._isWhole = isWhole !== false;
        this._query = query;
        this._total = total;
        this._problem = this._failed = null;
      }
    } catch (error) {
      if (turn === this._turn) {
        this._failed = query;
        this._problem = (error as Error).message;
      }
    }
    if (turn === this._turn && !this.isDisposed) {
      this._isLoading = false;
      this.emit();
    }
  }

  private _sessions: SessionInfo[] = [];
  private _query: string | null = null;
  private _failed: string | null = null;
  private _total = 0;
  private _turn = 0;
  private _isLoading = false;
  private _note: string | null = null;
  private _isWhole = true;
  private _problem: string | null = null;
}
