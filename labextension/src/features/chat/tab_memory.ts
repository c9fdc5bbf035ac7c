/** What this tab remembers across a reload: the current session, drafts, the chosen model and mode. */

import { asMode, STANDARD_MODE } from '../composer/mode';
import type { Mode } from '../composer/mode';
import { EFFORTS, TOOL_MODES } from '../composer/model_choice';
import type { Effort, ToolMode } from '../composer/model_choice';

/** The part of `Storage` that is used; if the browser denies it, nothing is remembered. */
export interface KeyValueStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** A browser may forbid storage altogether: even accessing it throws then. */
export function browserStore(name: 'sessionStorage' | 'localStorage'): KeyValueStore | null {
  try {
    return window[name];
  } catch {
    return null;
  }
}

export class TabMemory {
  /** `shared` outlives the tab; `own` belongs to this tab alone, so that two tabs can show two sessions. */
  constructor(
    private readonly prefix: string,
    private readonly own: KeyValueStore | null,
    private readonly shared: KeyValueStore | null
  ) {}

  get session(): string | null {
    return this._read(this.own, 'session') ?? this._read(this.shared, 'session');
  }

  set session(key: string | null) {
    this._write(this.own, 'session', key);
    this._write(this.shared, 'session', key);
  }

  get model(): string | null {
    return this._read(this.shared, 'model');
  }

  set model(model: string | null) {
    this._write(this.shared, 'model', model);
  }

  /** How this model acts, as the user last chose it; null if they never did. */
  toolMode(model: string): ToolMode | null {
    const chosen = this._read(this.shared, `toolMode:${model}`);
    return TOOL_MODES.find(mode => mode === chosen) ?? null;
  }

  setToolMode(model: string, mode: ToolMode): void {
    this._write(this.shared, `toolMode:${model}`, mode);
  }

  /** How much this model thinks, as the user chose; null leaves it to its provider. */
  effort(model: string): Effort | null {
    const chosen = this._read(this.shared, `effort:${model}`);
    return EFFORTS.find(effort => effort === chosen) ?? null;
  }

  setEffort(model: string, effort: Effort | null): void {
    this._write(this.shared, `effort:${model}`, effort);
  }

  /** How much Onyx may do: for this session, in this tab. */
  mode(session: string | null): Mode {
    return asMode(this._read(this.own, `mode:${session ?? 'new'}`)) ?? STANDARD_MODE;
  }

  setMode(session: string | null, mode: Mode): void {
    this._write(this.own, `mode:${session ?? 'new'}`, mode === STANDARD_MODE ? null : mode);
  }

  /** The new session has its key now: it inherits what was chosen for it. */
  begin(session: string): void {
    this.setMode(session, this.mode(null));
    this.setMode(null, STANDARD_MODE);
  }

  draft(session: string | null): string {
    return this._read(this.shared, `draft:${session ?? 'new'}`) ?? '';
  }

  setDraft(session: string | null, text: string): void {
    this._write(this.shared, `draft:${session ?? 'new'}`, text || null);
  }

  /** The draft's attachments, as JSON. */
  chips(session: string | null): string | null {
    return this._read(this.shared, `chips:${session ?? 'new'}`);
  }

  setChips(session: string | null, json: string | null): void {
    this._write(this.shared, `chips:${session ?? 'new'}`, json);
  }

  private _read(store: KeyValueStore | null, name: string): string | null {
    try {
      return store?.getItem(this.prefix + name) ?? null;
    } catch {
      return null;
    }
  }

  private _write(store: KeyValueStore | null, name: string, value: string | null): void {
    try {
      if (value === null) {
        store?.removeItem(this.prefix + name);
      } else {
        store?.setItem(this.prefix + name, value);
      }
    } catch {
      // A full or forbidden store only costs the memory of a draft.
    }
  }
}
