/** The skills of this server, the open one, and trusting it. */
import type { EventFrame } from '../../protocol/frames';
import type { SkillDetail, SkillInfo } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export class Skills extends LiveList {
  /** In order of precedence; null until read. */
  get skills(): readonly SkillInfo[] | null {
    return this._skills;
  }

  get leftOut(): number {
    return this._leftOut;
  }

  /** The open skill, as the list has it now. */
  get selected(): SkillInfo | null {
    return this._skills?.find(skill => skill.id === this._selectedId) ?? null;
  }

  /** Its text, instructions and changes; null until they are there. */
  get detail(): SkillDetail | null {
    return this._detail?.skill.id === this._selectedId ? this._detail : null;
  }

  get detailProblem(): string | null {
    return this._detailProblem;
  }

  select(id: string | null): void {
    if (id === this._selectedId) {
      return;
    }
    this._selectedId = id;
    this._detail = null;
    this._detailProblem = null;
    this.dismissRefusal(); // it was about another skill
    this.emit();
    if (id !== null) {
      void this.load();
    }
  }

  /** Trusts the version with that hash, which was shown. */
  async trust(hash: string): Promise<void> {
    const shown = this.detail;
    if (!shown) {
      return;
    }
    const { name, id } = shown.skill;
    await this.attempt(async () => void (await this.client.request('skills.trust', { name, id, hash })));
    await this.load();
  }

  /** The list and the detail come from one reading, so neither is older than the other. */
  protected async read(): Promise<() => void> {
    const { skills, leftOut } = await this.client.request('skills.list', {});
    const selected = skills.find(skill => skill.id === this._selectedId);
    const [detail, problem] = selected ? await this._read(selected) : [null, null];
    return () => {
      this._skills = skills.map(skill => (skill.id === detail?.skill.id ? detail.skill : skill));
      this._leftOut = leftOut ?? 0;
      this._detail = detail ?? this._detail;
      this._detailProblem = problem;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'skills.updated';
  }

  /** A skill that cannot be read doesn't block the others. */
  private async _read({ name, id }: SkillInfo): Promise<[SkillDetail, null] | [null, string]> {
    try {
      return [await this.client.request('skills.get', { name, id }), null];
    } catch (error) {
      return [null, (error as Error).message];
    }
  }

  private _skills: readonly SkillInfo[] | null = null;
  private _leftOut = 0;
  private _selectedId: string | null = null;
  private _detail: SkillDetail | null = null;
  private _detailProblem: string | null = null;
}
