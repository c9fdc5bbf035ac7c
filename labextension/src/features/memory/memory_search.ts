/**
 * A search-as-you-type in memory: the results for the newest query, and the conversations that mention it.
 */
import type { SocketClient } from '../../protocol/socket_client';
import type { MemoryPassage, MemoryResults, MemorySearchParams, SessionInfo } from '../../protocol/wire';
import { Debounced } from '../../shared/debounce';
import { ViewModel } from '../../shared/view_model';

/** What is searched, and of what age; everything if neither is chosen. */
export interface MemoryFilter {
  where: 'all' | 'files' | 'facts' | 'conversations';
  /** Leaves out what has no date. */
  lastDays: 7 | 30 | 365 | null;
}

const EVERYTHING: MemoryFilter = { where: 'all', lastDays: null };
const KINDS: Record<MemoryFilter['where'], MemorySearchParams['kinds']> = {
  ...{ all: null, files: ['memory', 'shared'], facts: ['fact'], conversations: null }
};
const PAUSE_MS = 150;
const LIMIT = 20;
const CONVERSATIONS = 5;
/** Conversations that are too old are filtered out here, since the server cannot filter them by age. */
const DATED_CONVERSATIONS = 50;

/** Whether some of it has a date, so that it can be searched by age. */
export function isDated(where: MemoryFilter['where']): boolean {
  return where !== 'facts';
}

export class MemorySearch extends ViewModel {
  constructor(
    private readonly client: SocketClient,
    private readonly agentId: () => string | null,
    /** The id of the agent that null stands for; null if it is the only one. */
    private readonly standardAgent: () => string | null = () => null
  ) {
    super();
    this._debounced = new Debounced(() => void this.load(), PAUSE_MS);
  }

  get query(): string {
    return this._query;
  }

  get filter(): MemoryFilter {
    return this._filter;
  }

  /**
   * Best first, for the previous query while a newer one is in progress; null if nothing was searched for.
   */
  get results(): readonly MemoryPassage[] | null {
    return this._results;
  }

  /** The query that the results answer; null if there are none. It lags behind `query` during typing. */
  get searched(): string | null {
    return this._searched;
  }

  /** The query that failed, if the newest search has failed. */
  get failed(): string | null {
    return this._failed;
  }

  /** What kept the search from being better. */
  get note(): string | null {
    return this._note;
  }

  /** Conversations that mention it. They may arrive later than the results, or never. */
  get conversations(): readonly SessionInfo[] {
    return this._conversations;
  }

  get problem(): string | null {
    return this._problem;
  }

  /** Sets the query; the search starts when typing pauses. */
  type(query: string): void {
    this._query = query;
    if (query.trim() === '') {
      this._turn += 1;
      this._forget();
    } else {
      this._debounced.ask();
    }
    this.emit();
  }

  /** Restricts the search and runs it at once. Results from elsewhere no longer count. Facts have no date. */
  narrow(filter: Partial<MemoryFilter>): void {
    const wanted = { ...this._filter, ...filter };
    this._filter = isDated(wanted.where) ? wanted : { ...wanted, lastDays: null };
    this._turn += 1;
    this._forget();
    this.emit();
    void this.load();
  }

  /** Searches again, now: the contents, or whose memory it is, may have changed. */
  async load(): Promise<void> {
    const query = this._query.trim();
    if (query === '' || this.isDisposed) {
      return;
    }
    const turn = ++this._turn;
    const agentId = this.agentId();
    if (agentId !== this._agentId) {
      this._agentId = agentId; // results from another agent's memory don't belong here
      this._forget();
      this.emit();
    }
    const { where } = this._filter;
    const isSaid = where === 'all' || where === 'conversations';
    const said = isSaid ? this._loadConversations(turn, query, agentId) : null;
    try {
      if (where === 'conversations') {
        await said; // "nothing found" would be premature before that
      }
      const { results, note } = await this._passages(query, agentId);
      if (turn === this._turn) {
        this._results = results;
        this._searched = query;
        this._note = note ?? null;
        this._problem = this._failed = null;
      }
    } catch (error) {
      if (turn === this._turn) {
        if (query !== this._searched) {
          this._forget();
        }
        this._failed = query;
        this._problem = (error as Error).message;
      }
    }
    if (turn === this._turn) {
      this.emit();
    }
  }

  override dispose(): void {
    this._debounced.dispose();
    super.dispose();
  }

  private async _passages(query: string, agentId: string | null): Promise<MemoryResults> {
    const { where } = this._filter;
    if (where === 'conversations') {
      return { results: [] };
    }
    const [kinds, since] = [KINDS[where], this._since()?.day];
    const only = { ...(kinds && { kinds }), ...(since && { since }) };
    return this.client.request('memory.search', { query, agentId, limit: LIMIT, ...only });
  }

  private async _loadConversations(turn: number, query: string, agentId: string | null): Promise<void> {
    const since = this._since()?.moment ?? -Infinity;
    const limit = since > 0 ? DATED_CONVERSATIONS : CONVERSATIONS;
    const params = { query, agentId: agentId ?? this.standardAgent(), limit };
    const found = await this.client.request('sessions.list', params).catch(() => null);
    if (turn === this._turn && !this.isDisposed) {
      const isNew = ({ match, updatedAt }: SessionInfo) => !(Date.parse(match?.at ?? updatedAt) < since);
      this._conversations = (found?.sessions ?? []).filter(isNew).slice(0, CONVERSATIONS);
      this.emit();
    }
  }

  /** The first day, which begins at midnight in this page's time zone; null if age doesn't count. */
  private _since(): { day: string; moment: number } | null {
    if (this._filter.lastDays === null) {
      return null;
    }
    const first = new Date();
    first.setDate(first.getDate() - this._filter.lastDays);
    first.setHours(0, 0, 0, 0);
    const [year, month, day] = [first.getFullYear(), first.getMonth() + 1, first.getDate()];
    const two = (value: number) => String(value).padStart(2, '0');
    return { day: `${year}-${two(month)}-${two(day)}`, moment: first.getTime() };
  }

  private _forget(): void {
    this._results = this._searched = this._failed = this._note = this._problem = null;
    this._conversations = [];
  }

  private _filter = EVERYTHING;
  private _query = '';
  private _searched: string | null = null;
  private _failed: string | null = null;
  private _agentId: string | null = null;
  private _results: readonly MemoryPassage[] | null = null;
  private _conversations: readonly SessionInfo[] = [];
  private _note: string | null = null;
  private _problem: string | null = null;
  private _turn = 0;
  private readonly _debounced: Debounced;
}
