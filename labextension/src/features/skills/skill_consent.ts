/**
 * The question of a cell that waits for consent to run a skill. Only the server says whether it is open, what
 * is asked and what an answer does: the output holds just an id, since any code in a kernel can write an
 * output.
 */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { SkillDetail, SkillQuestionClosedData } from '../../protocol/wire';
import { ViewModel } from '../../shared/view_model';

export const CONSENT_MIME_TYPE = 'application/vnd.onyx.skill-question+json';

export interface OpenQuestion {
  expiresAt: string;
  /** The version that would run. */
  detail: SkillDetail;
}

export type QuestionEnd = Pick<SkillQuestionClosedData, 'outcome' | 'reason'>;

export class SkillConsent extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  get online(): boolean {
    return this.client.state === 'open';
  }

  /** What the server reported while it was open; null until then. */
  get question(): OpenQuestion | null {
    return this._question;
  }

  /** null while it is open, and until known; afterwards it can no longer be answered. */
  get end(): QuestionEnd | null {
    return this._end;
  }

  get problem(): string | null {
    return this._problem;
  }

  update(data: unknown): void {
    const given = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
    const id = typeof given.questionId === 'string' ? given.questionId : '';
    if (id === this._id) {
      return;
    }
    this._id = id;
    this._question = null;
    this._end = id ? null : { outcome: 'gone' };
    this._setError(null);
    void this._load();
  }

  /** Trusts the version with that hash, and the cell continues. */
  trust = (hash: string): Promise<void> => this._answer({ hash });

  refuse = (): Promise<void> => this._answer({});

  private async _answer(given: { hash?: string }): Promise<void> {
    if (!this._question || this._end) {
      return;
    }
    try {
      await this.client.request('skills.answer', { questionId: this._id, ...given });
    } catch (error) {
      await this._load();
      const isOther = given.hash !== undefined && given.hash !== this._question.detail.skill.hash;
      if (!this._end && !isOther) {
        this._setError((error as Error).message); // if the version has changed, the card itself says so
      }
    }
  }

  private async _load(): Promise<void> {
    if (this._end || !this.online) {
      return;
    }
    const turn = ++this._turn;
    try {
      const { open, expiresAt, detail } = await this.client.request('skills.question', {
        questionId: this._id
      });
      if (turn !== this._turn) {
        return;
      }
      if (open && detail) {
        this._question = { expiresAt: expiresAt ?? '', detail };
        this._setError(null);
      } else {
        this._finish({ outcome: 'gone' });
      }
    } catch (error) {
      if (turn === this._turn) {
        this._setError((error as Error).message);
      }
    }
  }

  private _finish(end: QuestionEnd): void {
    this._turn += 1; // answers still in progress are outdated
    this._end = end;
    this._setError(null);
  }

  private _setError(problem: string | null): void {
    if (!this.isDisposed) {
      this._problem = problem;
      this.emit();
    }
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'skills.updated') {
      void this._load();
    } else if (frame.event === 'skills.question_closed' && frame.data.questionId === this._id) {
      this._finish(frame.data);
    }
  }

  private _onConnection(): void {
    void this._load();
    this.emit();
  }

  private _id = '';
  private _question: OpenQuestion | null = null;
  private _end: QuestionEnd | null = { outcome: 'gone' };
  private _problem: string | null = null;
  private _turn = 0;
}
