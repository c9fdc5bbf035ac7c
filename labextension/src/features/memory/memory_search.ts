/** A search in memory as it is typed: what the newest query found there, and in which conversations it was said. */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { SocketClient } from '../../protocol/socket_client';
import type { MemoryPassage, MemoryResults, MemorySearchParams, SessionInfo } from '../../protocol/wire';
import { Debounced } from '../../shared/debounce';

/** What is searched, and what of it by its age; all of it where neither is chosen. */
export interface MemoryFilter {
  where: 'all' | 'files' | 'facts' | 'conversations';
  /** What has no date is left out then. */
  lastDays: 7 | 30 | 365 | null;
}

const EVERYTHING: MemoryFilter = { where: 'all', lastDays: null };
const KINDS: Record<MemoryFilter['where'], MemorySearchParams['kinds']> = {
  ...{ all: null, files: ['memory', 'shared'], facts: ['fact'], conversations: null }
};
const PAUSE_MS = 150;
const LIMIT = 20;
const CONVERSATIONS = 5;
/** Of which those that are too old are left out here: the server does not know of days there. */
const DATED_CONVERSATIONS = 50;

/** Whether some of what is found there has a date, so that it can be searched by age. */
export function isDated(where: MemoryFilter['where']): boolean {
  return where !== 'facts';
}

export class MemorySearch implements IDisposable {
  constructor(
    private readonly client: SocketClient,
    private readonly agentId: () => string | null,
    /** The id of the agent that is meant where there is none; null where there is only that one. */
    private readonly standardAgent: () => string | null = () => null
  ) {
    this._debounced = new Debounced(() => void this.load(), PAUSE_MS);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get query(): string {
    return this._query;
  }

  get filter(): MemoryFilter {
    return this._filter;
  }

  /** The best first, of the query before while a newer one is under way; null where nothing was searched for. */
  get results(): readonly MemoryPassage[] | null {
    return this._results;
  }

  /** What the results are an answer to; null where there are none. It is behind `query` while one types. */
  get searched(): string | null {
    return this._searched;
  }

  /** What was searched for in vain, where the newest search has failed. */
  get failed(): string | null {
    return this._failed;
  }

  /** What kept the search from being better. */
  get note(): string | null {
    return this._note;
  }

  /** Conversations in which something was said that answers. They may come later than the results, or never. */
  get conversations(): readonly SessionInfo[] {
    return this._conversations;
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
      this._debounced.ask();
    }
    this._changed.emit();
  }

  /** Search there alone, at once. What was found elsewhere is no answer any more. Of facts none has a date. */
  narrow(filter: Partial<MemoryFilter>): void {
    const wanted = { ...this._filter, ...filter };
    this._filter = isDated(wanted.where) ? wanted : { ...wanted, lastDays: null };
    this._turn += 1;
    this._forget();
    this._changed.emit();
    void this.load();
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
    const { where } = this._filter;
    const isSaid = where === 'all' || where === 'conversations';
    const said = isSaid ? this._loadConversations(turn, query, agentId) : null;
    try {
      if (where === 'conversations') {
        await said; // before that, nobody knows that nothing is found
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
    if (turn === this._turn && !this._isDisposed) {
      this._changed.emit();
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._debounced.dispose();
      Signal.clearData(this);
    }
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
    if (turn === this._turn && !this._isDisposed) {
      const isNew = ({ match, updatedAt }: SessionInfo) => !(Date.parse(match?.at ?? updatedAt) < since);
      this._conversations = (found?.sessions ?? []).filter(isNew).slice(0, CONVERSATIONS);
      this._changed.emit();
    }
  }

  /** The first day, which begins at midnight of this page's time zone; null where age does not count. */
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
  private _isDisposed = false;
  private readonly _debounced: Debounced;
  private readonly _changed = new Signal<this, void>(this);
}
