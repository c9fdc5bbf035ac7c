/**
 * The files that this page uploads, one after the other, until each is a document or was refused. Uploads
 * continue after the panel is closed.
 */
import { type ISignal, Signal } from '@lumino/signaling';

import type { KnowledgeItemInfo } from '../../protocol/wire';
import { ViewModel } from '../../shared/view_model';

/** A file of the page, with JupyterLab's name for it; a folder has no bytes of its own. */
export interface DroppedFile {
  file: File;
  isFolder: boolean;
}

/** A file being uploaded; afterwards it is a document like the others, or shows why it was refused. */
export interface Upload {
  id: number;
  name: string;
  /** In progress; the others wait for it, or were refused. */
  isSending: boolean;
  /** null if it may still become a document. */
  refused: Refused | null;
}

/**
 * A folder has nothing to send, or the connection was lost; for a file that is too large, `maxBytes` is the
 * limit.
 */
export type Refused = 'folder' | 'lost' | { maxBytes: number } | { reason: string };

/** Rejects if the signal aborts it. */
type Send = (file: File, signal: AbortSignal) => Promise<KnowledgeItemInfo>;

export class Uploads extends ViewModel {
  constructor(private readonly send: Send) {
    super();
  }

  /** The document that an upload has become. */
  get uploaded(): ISignal<this, KnowledgeItemInfo> {
    return this._uploaded;
  }

  /** Oldest first. */
  get all(): readonly Upload[] {
    return this._all;
  }

  /** What was refused and not yet dismissed. */
  get refused(): readonly Upload[] {
    return this._all.filter(upload => upload.refused);
  }

  /** Leaving the page would lose some uploads. */
  get isInProgress(): boolean {
    return this._all.some(upload => !upload.refused);
  }

  /** `maxBytes` is the limit per file; null if unknown. */
  add(files: readonly DroppedFile[], maxBytes: number | null): void {
    for (const { file, isFolder } of files) {
      const isTooLarge = maxBytes !== null && file.size > maxBytes;
      const refused = isFolder ? 'folder' : isTooLarge ? { maxBytes } : null;
      const id = this._replace(file.name, refused);
      if (!refused) {
        this._sending = this._sending.then(() => this._sendOne(id, file));
      }
    }
    this.emit();
  }

  /** Records a file that was to be added in another way, and why it was refused. */
  refuse(name: string, reason: string): void {
    this._replace(name, { reason });
    this.emit();
  }

  /** Stops it, removes it from the queue, or dismisses its message. */
  drop(id: number): void {
    this._all = this._all.filter(upload => upload.id !== id);
    this.emit();
    if (id === this._current?.id) {
      this._current.abort.abort();
    }
  }

  private _replace(name: string, refused: Refused | null): number {
    this._count += 1;
    this._all = [...this._all, { id: this._count, name, isSending: false, refused }];
    return this._count;
  }

  private async _sendOne(id: number, file: File): Promise<void> {
    if (!this._all.some(upload => upload.id === id)) {
      return; // removed while it waited
    }
    const abort = new AbortController();
    this._current = { id, abort };
    this._set(id, { isSending: true });
    try {
      this._uploaded.emit(await this.send(file, abort.signal));
      this.drop(id);
    } catch (error) {
      // A fetch without an answer rejects with this; the browser's words mean nothing to a user.
      const refused = error instanceof TypeError ? 'lost' : { reason: (error as Error).message };
      this._set(id, { isSending: false, refused });
    }
  }

  private _set(id: number, values: Partial<Upload>): void {
    this._all = this._all.map(upload => (upload.id === id ? { ...upload, ...values } : upload));
    this.emit();
  }

  private _all: readonly Upload[] = [];
  private _count = 0;
  private _current: { id: number; abort: AbortController } | null = null;
  private _sending: Promise<void> = Promise.resolve();
  private readonly _uploaded = new Signal<this, KnowledgeItemInfo>(this);
}
