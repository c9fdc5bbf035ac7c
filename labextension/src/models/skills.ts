/** The skills of this server, the one that is looked at, and trusting it. It runs none. */
import type { EventFrame } from '../protocol/frames';
import type { SkillDetail, SkillInfo } from '../protocol/wire';
import { LiveList } from './live_list';

export class Skills extends LiveList {
  /** In the order of precedence; null before they were read. */
  get skills(): readonly SkillInfo[] | null {
    return this._skills;
  }

  get leftOut(): number {
    return this._leftOut;
  }

  /** The skill that is looked at, as the list has it now. */
  get selected(): SkillInfo | null {
    return this._skills?.find(skill => skill.id === this._selectedId) ?? null;
  }

  /** Its text, instructions and what changed; null until they are there. */
  get detail(): SkillDetail | null {
    return this._detail?.skill.id === this._selectedId ? this._detail : null;
  }

  get detailProblem(): string | null {
    return this._detailProblem;
  }

  override async load(): Promise<void> {
    await super.load();
    if (this.selected) {
      await this._loadDetail();
      this.emit();
    }
  }

  select(id: string | null): void {
    if (id === this._selectedId) {
      return;
    }
    this._selectedId = id;
    this._detail = null;
    this._detailProblem = null;
    this.emit();
    if (id !== null) {
      void this._loadDetail().then(() => this.emit());
    }
  }

  /** The version with that hash, which was shown, may run from now on. */
  async trust(hash: string): Promise<void> {
    const shown = this.detail;
    if (!shown) {
      return;
    }
    try {
      const { name, id } = shown.skill;
      await this.client.request('skills.trust', { name, id, hash });
      await this.load();
    } catch (error) {
      await this.load();
      this._detailProblem = (error as Error).message;
      this.emit();
    }
  }

  protected async read(): Promise<() => void> {
    const { skills, leftOut } = await this.client.request('skills.list', {});
    return () => {
      this._skills = skills;
      this._leftOut = leftOut ?? 0;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'skills.updated';
  }

  private async _loadDetail(): Promise<void> {
    const skill = this.selected;
    if (!skill) {
      return;
    }
    try {
      const detail = await this.client.request('skills.get', { name: skill.name, id: skill.id });
      if (this._selectedId === skill.id) {
        this._detail = detail;
        this._detailProblem = null;
      }
    } catch (error) {
      if (this._selectedId === skill.id) {
        this._detailProblem = (error as Error).message;
      }
    }
  }

  private _skills: readonly SkillInfo[] | null = null;
  private _leftOut = 0;
  private _selectedId: string | null = null;
  private _detail: SkillDetail | null = null;
  private _detailProblem: string | null = null;
}
