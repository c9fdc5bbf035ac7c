/**
 * The documents that Onyx finds: what was added, how far each has been read, and what goes up from this page. It keeps
 * itself current while somebody looks, and shows nothing.
 */
import { type ISignal, Signal } from '@lumino/signaling';

import type { EventFrame } from '../protocol/frames';
import type { SocketClient } from '../protocol/socket_client';
import type { KnowledgeItemInfo } from '../protocol/wire';
import { LiveList } from './live_list';

/** What JupyterLab calls a file of the page; a folder has no bytes of its own. */
export interface DroppedFile {
  file: File;
  isFolder: boolean;
}

/** A file on its way to the server; afterwards it is a document like the others, or says why it is none. */
export interface Upload {
  id: number;
  name: string;
  /** null while it is on its way. */
  refused: 'folder' | 'size' | { reason: string } | null;
}

/** `undo` brings it back. */
export interface RemovedDocument {
  item: KnowledgeItemInfo;
  undo: () => Promise<void>;
}

type Send = (file: File) => Promise<KnowledgeItemInfo>;

export class Documents extends LiveList {
  constructor(
    client: SocketClient,
    private readonly send: Send
  ) {
    super(client);
  }

  get removed(): ISignal<this, RemovedDocument> {
    return this._removed;
  }

  /** The newest first; null before they were read. */
  get items(): readonly KnowledgeItemInfo[] | null {
    return this._items;
  }

  /** The oldest first. */
  get uploads(): readonly Upload[] {
    return this._uploads;
  }

  /** What a file may have that is uploaded; null before the server has told. */
  get maxUploadBytes(): number | null {
    return this._maxUploadBytes;
  }

  get chosen(): KnowledgeItemInfo | null {
    return this._items?.find(item => item.itemId === this._chosenId) ?? null;
  }

  choose(itemId: string | null): void {
    if (itemId !== this._chosenId) {
      this._chosenId = itemId;
      this.forgetProblem();
      this.emit();
    }
  }

  /** Upload files, one after the other. */
  addFiles(files: readonly DroppedFile[]): void {
    for (const { file, isFolder } of files) {
      const max = this._maxUploadBytes;
      const refused = isFolder ? 'folder' : max !== null && file.size > max ? 'size' : null;
      const upload: Upload = { id: ++this._uploadCount, name: file.name, refused };
      this._uploads = [...this._uploads, upload];
      if (!refused) {
        this._sending = this._sending.then(() => this._sendOne(upload.id, file));
      }
    }
    this.emit();
  }

  /** Add files and folders by their paths in the file browser. */
  async addPaths(paths: readonly string[]): Promise<void> {
    await Promise.all(
      paths.map(path =>
        this.attempt(async () => this._take(await this.client.request('knowledge.add', { path })))
      )
    );
  }

  dismiss(uploadId: number): void {
    this._uploads = this._uploads.filter(upload => upload.id !== uploadId);
    this.emit();
  }

  refresh(itemId: string): Promise<void> {
    return this.attempt(async () => {
      const { items } = await this.client.request('knowledge.refresh', { itemId });
      items.forEach(item => this._take(item));
    });
  }

  stop(itemId: string): Promise<void> {
    return this.attempt(async () => this._take(await this.client.request('knowledge.stop', { itemId })));
  }

  remove(itemId: string): Promise<void> {
    return this.attempt(async () => {
      const item = this._items?.find(one => one.itemId === itemId);
      await this.client.request('knowledge.remove', { itemId });
      this.overtake(); // a list that is under way may still have it
      this._items = this._items?.filter(one => one.itemId !== itemId) ?? null;
      this._chosenId = this._chosenId === itemId ? null : this._chosenId;
      if (item) {
        this._removed.emit({ item, undo: () => this._restore(itemId) });
      }
    });
  }

  /** What was told of an item since the list was asked for is newer than the list. */
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
      this._take(frame.data as KnowledgeItemInfo);
      this.emit();
    }
    return frame.event === 'knowledge.updated';
  }

  /** Also after the panel was closed: its notice is still there. */
  private async _restore(itemId: string): Promise<void> {
    this._take(await this.client.request('knowledge.restore', { itemId }));
    this.emit();
  }

  private async _sendOne(id: number, file: File): Promise<void> {
    if (this.isDisposed) {
      return;
    }
    try {
      this._take(await this.send(file));
      this.dismiss(id);
    } catch (error) {
      const refused = { reason: (error as Error).message };
      this._uploads = this._uploads.map(upload => (upload.id === id ? { ...upload, refused } : upload));
      this.emit();
    }
  }

  /** The item as it is now, in its place or as the newest. */
  private _take(item: KnowledgeItemInfo): void {
    this._told.set(item.itemId, item);
    const items = this._items ?? [];
    const isThere = items.some(one => one.itemId === item.itemId);
    this._items = isThere ? items.map(one => (one.itemId === item.itemId ? item : one)) : [item, ...items];
  }

  private _items: readonly KnowledgeItemInfo[] | null = null;
  private _uploads: readonly Upload[] = [];
  private _maxUploadBytes: number | null = null;
  private _chosenId: string | null = null;
  private _uploadCount = 0;
  private _sending: Promise<void> = Promise.resolve();
  private readonly _told = new Map<string, KnowledgeItemInfo>();
  private readonly _removed = new Signal<this, RemovedDocument>(this);
}
