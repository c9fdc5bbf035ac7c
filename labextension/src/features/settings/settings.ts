/** What the panel changes in onyx.json: its values, what is locked, and what is wrong in the file. */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { SettingsInfo, SettingValue } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export type Value = string | number | boolean | null;

export class Settings extends LiveList {
  constructor(client: SocketClient) {
    super(client);
  }

  /** null until read. */
  get info(): SettingsInfo | null {
    return this._info;
  }

  /** What somebody else changed in the file meanwhile, as a diff, while a change waits for a decision. */
  get conflict(): string | null {
    return this._conflict?.diff ?? null;
  }

  value(key: string): Value {
    return this._entry(key)?.value ?? null;
  }

  /** The environment variable that sets this key; null if the file does. */
  lockedBy(key: string): string | null {
    return this._entry(key)?.lockedBy ?? null;
  }

  /** Writes one key; null removes it, so that its default applies. A change waits for the one before it. */
  set(key: string, value: Value): Promise<void> {
    this._writing = this._writing.then(() => this.attempt(() => this._write(key, value)));
    return this._writing;
  }

  /** Writes the waiting change into the file as it is now. */
  async setAnyway(): Promise<void> {
    if (this._conflict) {
      const { key, value } = this._conflict;
      await this.set(key, value);
    }
  }

  dismissConflict(): void {
    this._conflict = null;
    this.emit();
  }

  protected async read(): Promise<() => void> {
    const info = await this.client.request('settings.get', {});
    return () => {
      this._info = info;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'settings.updated';
  }

  private async _write(key: string, value: Value): Promise<void> {
    const { settings, conflict } = await this.client.request('settings.set', {
      version: this._info?.version ?? '',
      edits: [{ key, value }]
    });
    this.invalidatePending();
    this._info = settings;
    if (conflict) {
      this._conflict = { diff: conflict, key, value };
    } else if (this._conflict?.key === key) {
      this._conflict = null;
    }
  }

  private _entry(key: string): SettingValue | undefined {
    return this._info?.values.find(one => one.key === key);
  }

  private _info: SettingsInfo | null = null;
  private _writing: Promise<void> = Promise.resolve();
  private _conflict: { diff: string; key: string; value: Value } | null = null;
}
