/** A skill to be made from a notebook: the proposal, the user's edits, and saving it. */
import { RequestError } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { SkillInfo, SkillsSaveParams } from '../../protocol/wire';
import { ViewModel } from '../../shared/view_model';

export type Place = NonNullable<SkillsSaveParams['place']>;

export interface Draft {
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: string;
  readonly place: Place;
  readonly overwrite: boolean;
}

export class SkillDraft extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
  }

  /** null while none is being made, and while the proposal is in progress. */
  get draft(): Draft | null {
    return this._draft;
  }

  /** The notebook that it is made from, from the moment of the request. */
  get path(): string | null {
    return this._path;
  }

  /** What the proposal could not do. */
  get hint(): string | null {
    return this._hint;
  }

  /** By field; an error that belongs to none is under `''`. */
  get errors(): Readonly<Record<string, string>> {
    return this._errors;
  }

  get isSaving(): boolean {
    return this._isSaving;
  }

  async begin(path: string): Promise<void> {
    this._path = path;
    this._draft = null;
    this._hint = null;
    this._errors = {};
    this.emit();
    try {
      const { name, description, parameters, problem } = await this.client.request('skills.propose', {
        path
      });
      if (this._path === path) {
        this._draft = { path, name, description, parameters, place: 'workspace', overwrite: false };
        this._hint = problem ?? null;
      }
    } catch (error) {
      if (this._path === path) {
        this._errors = { '': (error as Error).message };
      }
    }
    this.emit();
  }

  change(values: Partial<Omit<Draft, 'path'>>): void {
    if (!this._draft) {
      return;
    }
    this._draft = { ...this._draft, ...values };
    const cleared = new Set(['', ...Object.keys(values)]);
    this._errors = Object.fromEntries(Object.entries(this._errors).filter(([field]) => !cleared.has(field)));
    this.emit();
  }

  /** The saved skill; null if something must be corrected first. */
  async save(): Promise<SkillInfo | null> {
    const { _draft: draft } = this;
    if (!draft || this._isSaving) {
      return null;
    }
    this._isSaving = true;
    this._errors = {};
    this.emit();
    try {
      const { skill } = await this.client.request('skills.save', { ...draft });
      this.cancel();
      return skill;
    } catch (error) {
      this._errors = { [fieldOf(error)]: (error as Error).message.replace(/^`\w+`: /, '') };
      return null;
    } finally {
      this._isSaving = false;
      this.emit();
    }
  }

  cancel(): void {
    this._path = null;
    this._draft = null;
    this._hint = null;
    this._errors = {};
    this.emit();
  }

  private _path: string | null = null;
  private _draft: Draft | null = null;
  private _hint: string | null = null;
  private _errors: Readonly<Record<string, string>> = {};
  private _isSaving = false;
}

const FIELDS = new Set(['name', 'description', 'parameters', 'place']);

/** The field that an error is about, as the server names it. */
function fieldOf(error: unknown): string {
  const data = error instanceof RequestError ? (error.data as { field?: unknown } | undefined) : undefined;
  const field = typeof data?.field === 'string' ? data.field : '';
  return FIELDS.has(field) ? field : '';
}
