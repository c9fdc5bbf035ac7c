/**
 * The documents that Onyx finds: what was added, and how far each has been read. Kept current while the panel
 * is open.
 */
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { KnowledgeItemInfo } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';
import type { DroppedFile, Uploads } from './uploads';

/** `undo` brings it back. */
export interface RemovedDocument {
  item: KnowledgeItemInfo;
  undo: () => Promise<void>;
}

export class Documents extends LiveList {
  constructor(
    client: SocketClient,
    /** They continue after the panel is closed. */
    readonly uploads: Uploads
  ) {
    super(client);
    uploads.changed.connect(this.emit, this);
    uploads.uploaded.connect(this._onUploaded, this);
  }

  get removed(): ISignal<this, RemovedDocument> {
    return this._removed;
  }

  /** Newest first; null until read. */
  get items(): readonly KnowledgeItemInfo[] | null {
    return this._items;
  }

  get chosen(): KnowledgeItemInfo | null {
    return this._items?.find(item => item.itemId === this._chosenId) ?? null;
  }

  choose(itemId: string | null): void {
    if (itemId !== this._chosenId) {
      this._chosenId = itemId;
      this.dismissRefusal(); // it was about another document
      this.emit();
    }
  }

  addFiles(files: readonly DroppedFile[]): void {
    this.uploads.add(files, this._maxUploadBytes);
  }

  /** Adds files and folders by their file browser paths. Failures appear among the refused uploads. */
  async addPaths(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map(path => this._addPath(path)));
  }

  refresh(itemId: string): Promise<void> {
    return this.attempt(async () => {
      const { items } = await this.client.request('knowledge.refresh', { itemId });
      items.forEach(item => this._apply(item));
    });
  }

  stop(itemId: string): Promise<void> {
    return this.attempt(async () => this._apply(await this.client.request('knowledge.stop', { itemId })));
  }

  remove(itemId: string): Promise<void> {
    return this.attempt(async () => {
      const item = this._items?.find(one => one.itemId === itemId);
      await this.client.request('knowledge.remove', { itemId });
      this.invalidatePending(); // a list being read may still contain it
      this._items = this._items?.filter(one => one.itemId !== itemId) ?? null;
      this._chosenId = this._chosenId === itemId ? null : this._chosenId;
      if (item) {
        this._removed.emit({ item, undo: () => this._restore(itemId) });
      }
    });
  }

  /** What was reported about an item since the list was requested is newer than the list. */
  protected async read(): Promise<() => void> {
    this._told.clear();
    const { items, maxUploadBytes } = await this.client.request('knowledge.list', {});
    return () => {
      this._items = items.map(item => this._told.get(item.itemId) ?? item).reverse();
      this._maxUploadBytes = maxUploadBytes;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    if (frame.event === 'knowledge.progress' && this._items) {
      this._apply(frame.data as KnowledgeItemInfo);
      this.emit();
    }
    return frame.event === 'knowledge.updated';
  }

  /** Works after the panel was closed, too: its notification is still there. */
  private async _restore(itemId: string): Promise<void> {
    this._apply(await this.client.request('knowledge.restore', { itemId }));
    this.emit();
  }

  private async _addPath(path: string): Promise<void> {
    try {
      this._apply(await this.client.request('knowledge.add', { path }));
      this.emit();
    } catch (error) {
      this.uploads.refuse(path, (error as Error).message);
    }
  }

  /** Until the list is read there is nothing to update; the list will include it. */
  private _onUploaded(_: Uploads, item: KnowledgeItemInfo): void {
    if (this._items) {
      this._apply(item);
      this.emit();
    }
  }

  /** Updates the item in place, or adds it as the newest. */
  private _apply(item: KnowledgeItemInfo): void {
    this._told.set(item.itemId, item);
    const items = this._items ?? [];
    const isThere = items.some(one => one.itemId === item.itemId);
    this._items = isThere ? items.map(one => (one.itemId === item.itemId ? item : one)) : [item, ...items];
  }

  private _items: readonly KnowledgeItemInfo[] | null = null;
  /** The largest file that can be uploaded; null until the server has reported it. */
  private _maxUploadBytes: number | null = null;
  private _chosenId: string | null = null;
  private readonly _told = new Map<string, KnowledgeItemInfo>();
  private readonly _removed = new Signal<this, RemovedDocument>(this);
}
