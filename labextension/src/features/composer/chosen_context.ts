/** What the user attached to the message being written. Like the draft, it survives a reload. */
import type { ContextItem } from '../../protocol/wire';
import { asItems, itemKey } from './context_items';
import type { TabMemory } from '../chat/tab_memory';
import { ViewModel } from '../../shared/view_model';

/** As many as the server accepts with one message, minus the notebook in front. */
export const MAX_CHIPS = 29;

export class ContextChips extends ViewModel {
  constructor(
    private readonly memory: Pick<TabMemory, 'chips' | 'setChips'>,
    private _session: string | null
  ) {
    super();
    this._items = this._stored(_session);
  }

  get items(): readonly ContextItem[] {
    return this._items;
  }

  has(item: ContextItem): boolean {
    return this._items.some(one => itemKey(one) === itemKey(item));
  }

  /** Attaches an item, unless it already is. False if there is no more room. */
  add(item: ContextItem): boolean {
    if (this.has(item)) {
      return true;
    }
    if (this._items.length >= MAX_CHIPS) {
      return false;
    }
    this._set([...this._items, item]);
    return true;
  }

  remove(item: ContextItem): void {
    this._set(this._items.filter(one => itemKey(one) !== itemKey(item)));
  }

  clear(): void {
    this._set([]);
  }

  /** Shows the attachments of that session's draft. */
  open(session: string | null): void {
    this._session = session;
    this._items = this._stored(session);
    this.emit();
  }

  /** The new session has its key now: these attachments belong to it. */
  named(session: string): void {
    this.memory.setChips(null, null);
    this._session = session;
    this._set(this._items);
  }

  private _set(items: readonly ContextItem[]): void {
    this._items = items;
    this.memory.setChips(this._session, items.length > 0 ? JSON.stringify(items) : null);
    this.emit();
  }

  private _stored(session: string | null): readonly ContextItem[] {
    try {
      return asItems(JSON.parse(this.memory.chips(session) ?? '[]')).slice(0, MAX_CHIPS);
    } catch {
      return [];
    }
  }

  private _items: readonly ContextItem[];
}
