/**
 * The open memory file: its text, its versions, comparing one with another, and restoring one. A restore is
 * based on the text that was shown, so that nothing is overwritten unseen.
 */
import { type ISignal, Signal } from '@lumino/signaling';

import { RequestError } from '../../protocol/frames';
import type { EventFrame } from '../../protocol/frames';
import type { ConnectionState, SocketClient } from '../../protocol/socket_client';
import type { MemoryText, MemoryVersionInfo, MemoryVersions } from '../../protocol/wire';
import { factsAsText } from './memory_facts';
import type { MemoryPlace } from '../../shared/citations';
import { readAgain, readOlder, withCompared } from './version_pages';
import { Debounced } from '../../shared/debounce';
import { ViewModel } from '../../shared/view_model';

/** A version, and what it is compared with: the current file, or the version before. */
export interface Comparison {
  version: MemoryVersionInfo;
  /** `nothing`: no earlier version is kept. */
  with: 'now' | 'before' | 'nothing';
  before: string;
  after: string;
  /** A text was too long to be compared as a whole. */
  isCut: boolean;
}

/** A restored version, and what undoes the restore; null if there was nothing before it. */
export interface Restored {
  place: MemoryPlace;
  version: MemoryVersionInfo;
  undo: (() => Promise<void>) | null;
}

/** What a change is based on if there is no file. */
const NO_FILE = '';

export class MemoryFile extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
    this._debounced = new Debounced(() => void this.load());
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  get restored(): ISignal<this, Restored> {
    return this._restored;
  }

  get place(): MemoryPlace | null {
    return this._place;
  }

  /** Whether its text or its versions are shown. */
  get view(): 'text' | 'versions' {
    return this._view;
  }

  /** null until read, and for a deleted file. */
  get text(): MemoryText | null {
    return this._text;
  }

  /** Newest first, as far back as requested; null until read. */
  get versions(): readonly MemoryVersionInfo[] | null {
    return this._versions;
  }

  /** How many are kept, including those not listed here. */
  get versionCount(): number {
    return this._versionCount;
  }

  get comparison(): Comparison | null {
    return this._comparison;
  }

  /** The chosen version, even while it is being read. */
  get compared(): number | null {
    return this._compared;
  }

  /** Why the file, or a compared version, could not be read. */
  get problem(): string | null {
    return this._problem;
  }

  /** Why the last action failed; it stays until it is dismissed or another action starts. */
  get refusal(): string | null {
    return this._refusal;
  }

  /** A version was not restored because the file has changed since it was read. */
  get hasConflict(): boolean {
    return this._hasConflict;
  }

  /** Older versions are being read. */
  get isReadingOlder(): boolean {
    return this._isReadingOlder;
  }

  get isBusy(): boolean {
    return this._isBusy;
  }

  /** Opens a file, or goes to other lines of the open one. */
  open(place: MemoryPlace | null): void {
    const isSame = place !== null && this._isShown(place);
    this._place = place;
    this._forgetRefusal();
    this._view = isSame && !place.lines && !place.fact ? this._view : 'text';
    if (!isSame) {
      this._text =
        this._versions =
        this._comparison =
        this._compared =
        this._problem =
        this._formerText =
          null;
    }
    this.emit();
    if (place) {
      void this.load();
    }
  }

  show(view: 'text' | 'versions'): void {
    this._view = view;
    this._forgetRefusal();
    this.emit();
  }

  dismissRefusal(): void {
    this._forgetRefusal();
    this.emit();
  }

  /** Drops an answer that a newer reading has overtaken. */
  async load(): Promise<void> {
    const place = this._place;
    if (!place) {
      return;
    }
    const turn = ++this._turn;
    const { path, agentId } = place;
    const isOvertaken = () => turn !== this._turn;
    try {
      const found = await readAgain(this.client, place, this._versions ?? []);
      if (isOvertaken()) {
        return;
      }
      this._list(withCompared(found, this._versionOf(this._compared)));
      // A deleted file only has versions left.
      const text = found.versions[0]?.deleted
        ? null
        : await this.client.request('memory.read', { path, agentId });
      if (isOvertaken()) {
        return;
      }
      this._text = text;
      this._problem = null;
      await this._compare(turn);
    } catch (error) {
      if (isOvertaken()) {
        return;
      }
      this._problem = (error as Error).message;
    }
    this.emit();
  }

  /** Reads the versions before those that are listed. */
  async showOlder(): Promise<void> {
    const place = this._place;
    if (!place || !this._versions?.length || this._isReadingOlder) {
      return;
    }
    const turn = this._turn;
    this._isReadingOlder = true;
    this._forgetRefusal();
    this.emit();
    try {
      const found = await readOlder(this.client, place, this._versions);
      if (turn === this._turn) {
        this._list(found);
      }
    } catch (error) {
      if (turn === this._turn) {
        this._refusal = (error as Error).message;
      }
    }
    this._isReadingOlder = false;
    this.emit();
  }

  /** Compares that version; null for none. */
  compare(version: number | null): void {
    this._compared = version;
    this._forgetRefusal();
    if (version === null) {
      this._comparison = null;
    }
    this.emit();
    void this._compare(this._turn)
      .catch(error => (this._problem = (error as Error).message))
      .then(() => this.emit());
  }

  /** Restores that version. On failure, `problem` and `hasConflict` say why. */
  async restore(version: MemoryVersionInfo): Promise<void> {
    const place = this._place;
    const current = this._versions?.find(one => one.current) ?? null;
    if (!place || this._isBusy) {
      return;
    }
    try {
      const made = await this._restoreVersion(place, version.version, this._text?.checksum ?? NO_FILE);
      const undo =
        current && !current.deleted
          ? async (): Promise<void> => {
              await this._restoreVersion(place, current.version, made.checksum);
            }
          : null;
      this._restored.emit({ place, version, undo });
    } catch {
      // The panel shows it.
    }
  }

  override dispose(): void {
    this._debounced.dispose();
    super.dispose();
  }

  /** The file after the restore. Rejects if it failed. */
  private async _restoreVersion(place: MemoryPlace, version: number, basedOn: string): Promise<MemoryText> {
    const { path, agentId } = place;
    this._isBusy = true;
    this._forgetRefusal();
    this.emit();
    try {
      await this.client.request('memory.restore', { path, agentId, version, basedOn });
      const made = await this.client.request('memory.read', { path, agentId });
      this._compared = this._isShown(place) ? null : this._compared;
      await this._after(place, null);
      return made;
    } catch (error) {
      await this._after(place, error as Error);
      throw error;
    }
  }

  /** Reads the newest state, and adds what went wrong. */
  private async _after(place: MemoryPlace, refused: Error | null): Promise<void> {
    this._isBusy = false;
    if (this._isShown(place)) {
      await this.load();
      this._hasConflict = refused !== null && isConflict(refused);
      this._refusal = refused && !this._hasConflict ? refused.message : null;
    }
    this.emit();
  }

  private _isShown(place: MemoryPlace): boolean {
    return this._place?.path === place.path && this._place.agentId === place.agentId;
  }

  private async _compare(turn: number): Promise<void> {
    const place = this._place;
    const version = this._versionOf(this._compared);
    if (!place || !version) {
      this._comparison = null;
      return;
    }
    const comparison = await this._comparisonOf(place, version);
    if (turn === this._turn && version.version === this._compared) {
      this._comparison = comparison;
    }
  }

  /** A former version with the current file; the current version with the one before it. */
  private async _comparisonOf(place: MemoryPlace, version: MemoryVersionInfo): Promise<Comparison> {
    if (!version.current) {
      const [text, isCut] = await this._textOf(place, version);
      const now = this._text;
      const cut = isCut || now?.cut === true;
      return { version, with: 'now', before: text, after: now ? readable(now) : '', isCut: cut };
    }
    const after = this._text ? readable(this._text) : '';
    const earlier = this._versions?.find(one => one.version < version.version);
    if (!earlier) {
      return { version, with: 'nothing', before: after, after, isCut: false };
    }
    const [before, isCut] = await this._textOf(place, earlier);
    return { version, with: 'before', before, after, isCut: isCut || this._text?.cut === true };
  }

  /**
   * Versions are immutable: each is read once for as long as it is compared, even if it is no longer kept.
   */
  private async _textOf(place: MemoryPlace, version: MemoryVersionInfo): Promise<[string, boolean]> {
    if (version.deleted) {
      return ['', false];
    }
    const { path, agentId } = place;
    const { version: number } = version;
    if (this._formerText?.number === number) {
      return this._formerText.text;
    }
    const read = await this.client.request('memory.read', { path, agentId, version: number });
    const text: [string, boolean] = [readable(read), read.cut === true];
    if (this._isShown(place)) {
      this._formerText = { number, text };
    }
    return text;
  }

  private _list({ versions, total }: MemoryVersions): void {
    this._versions = versions;
    this._versionCount = total;
  }

  private _versionOf(number: number | null): MemoryVersionInfo | undefined {
    return this._versions?.find(one => one.version === number);
  }

  private _forgetRefusal(): void {
    this._refusal = null;
    this._hasConflict = false;
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'memory.updated' && frame.data.path === this._place?.path && this._place) {
      this._debounced.ask();
    }
  }

  private _onConnection(_: SocketClient, state: ConnectionState): void {
    if (state === 'open' && this._place) {
      void this.load();
    }
  }

  private _place: MemoryPlace | null = null;
  private _view: 'text' | 'versions' = 'text';
  private _text: MemoryText | null = null;
  private _versions: readonly MemoryVersionInfo[] | null = null;
  private _versionCount = 0;
  private _compared: number | null = null;
  private _comparison: Comparison | null = null;
  private _formerText: { number: number; text: [string, boolean] } | null = null;
  private _problem: string | null = null;
  private _refusal: string | null = null;
  private _hasConflict = false;
  private _isReadingOlder = false;
  private _isBusy = false;
  private _turn = 0;
  private readonly _debounced: Debounced;
  private readonly _restored = new Signal<this, Restored>(this);
}

/** The text as a user compares it: one fact per line instead of the lines of JSON that record them. */
function readable({ text, facts }: MemoryText): string {
  return facts ? factsAsText(facts.facts) : text;
}

/** Whether a write was refused because the file has changed since it was read. */
export function isConflict(error: Error): boolean {
  const data = error instanceof RequestError ? error.data : null;
  return typeof data === 'object' && data !== null && 'code' in data && data.code === 'memory_conflict';
}
