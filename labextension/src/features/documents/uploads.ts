/**
 * The files that go up from this page, one after the other, until each is a document or it is told why it is none. They
 * go on while nobody looks at them.
 */
import { type ISignal, Signal } from '@lumino/signaling';

import type { KnowledgeItemInfo } from '../../protocol/wire';

/** What JupyterLab calls a file of the page; a folder has no bytes of its own. */
export interface DroppedFile {
  file: File;
  isFolder: boolean;
}

/** A file on its way to the server; afterwards it is a document like the others, or says why it is none. */
export interface Upload {
  id: number;
  name: string;
  /** Under way now; the others wait for it, or were refused. */
  isSending: boolean;
  /** null where it may still become a document. */
  refused: Refused | null;
}

/** A folder has nothing to send, the connection was lost; of a file that is too large it is told what one may have. */
export type Refused = 'folder' | 'lost' | { maxBytes: number } | { reason: string };

/** Rejects where the signal calls it off. */
type Send = (file: File, signal: AbortSignal) => Promise<KnowledgeItemInfo>;

export class Uploads {
  constructor(private readonly send: Send) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The document that one has become. */
  get taken(): ISignal<this, KnowledgeItemInfo> {
    return this._taken;
  }

  /** The oldest first. */
  get all(): readonly Upload[] {
    return this._all;
  }

  /** What was not added, and what nobody has dismissed yet. */
  get refused(): readonly Upload[] {
    return this._all.filter(upload => upload.refused);
  }

  /** Leaving the page would lose some. */
  get isUnderWay(): boolean {
    return this._all.some(upload => !upload.refused);
  }

  /** `maxBytes` is what one may have; null where that is not known. */
  add(files: readonly DroppedFile[], maxBytes: number | null): void {
    for (const { file, isFolder } of files) {
      const isTooLarge = maxBytes !== null && file.size > maxBytes;
      const refused = isFolder ? 'folder' : isTooLarge ? { maxBytes } : null;
      const id = this._put(file.name, refused);
      if (!refused) {
        this._sending = this._sending.then(() => this._sendOne(id, file));
      }
    }
    this._changed.emit();
  }

  /** What was to be added in another way, and why it was not. */
  refuse(name: string, reason: string): void {
    this._put(name, { reason });
    this._changed.emit();
  }

  /** Stop it, take it out of the queue, or dismiss what was told of it. */
  drop(id: number): void {
    this._all = this._all.filter(upload => upload.id !== id);
    this._changed.emit();
    if (id === this._current?.id) {
      this._current.abort.abort();
    }
  }

  private _put(name: string, refused: Refused | null): number {
    this._count += 1;
    this._all = [...this._all, { id: this._count, name, isSending: false, refused }];
    return this._count;
  }

  private async _sendOne(id: number, file: File): Promise<void> {
    if (!this._all.some(upload => upload.id === id)) {
      return; // taken out while it waited
    }
    const abort = new AbortController();
    this._current = { id, abort };
    this._set(id, { isSending: true });
    try {
      this._taken.emit(await this.send(file, abort.signal));
      this.drop(id);
    } catch (error) {
      // What a fetch without an answer rejects with; its words are the browser's, and say nothing to a person.
      const refused = error instanceof TypeError ? 'lost' : { reason: (error as Error).message };
      this._set(id, { isSending: false, refused });
    }
  }

  private _set(id: number, values: Partial<Upload>): void {
    this._all = this._all.map(upload => (upload.id === id ? { ...upload, ...values } : upload));
    this._changed.emit();
  }

  private _all: readonly Upload[] = [];
  private _count = 0;
  private _current: { id: number; abort: AbortController } | null = null;
  private _sending: Promise<void> = Promise.resolve();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _taken = new Signal<this, KnowledgeItemInfo>(this);
}
