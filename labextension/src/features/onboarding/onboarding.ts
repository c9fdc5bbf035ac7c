/** The questions of onboarding and the files that the answers make: the server's state, for the panel. */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { OnboardingFile, OnboardingPhrased, OnboardingState } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';
import { isConflict } from '../memory/memory_file';

/** A model on this machine may have to be loaded first. */
const PHRASING_MS = 90_000;

export class Onboarding extends LiveList {
  /** `agentId` is the agent in front; null is the default one. */
  constructor(
    client: SocketClient,
    private readonly agentId: () => string | null
  ) {
    super(client);
  }

  /** null until read. */
  get state(): OnboardingState | null {
    return this._state;
  }

  /** The files as they would be written; null until read. */
  get files(): readonly OnboardingFile[] | null {
    return this._files;
  }

  /** The paths that were just written; null before, and once a question is answered again. */
  get written(): readonly string[] | null {
    return this._written;
  }

  /** A file had changed since it was shown; the files are those of now. */
  get hasConflict(): boolean {
    return this._hasConflict;
  }

  get isBusy(): boolean {
    return this._isBusy;
  }

  /** The panel was opened: what was written last time is no news. */
  begin(): void {
    this._written = null;
    void this.load();
  }

  /** Empty choices and text take a former answer back. */
  answer(questionId: string, choices: readonly string[], text: string): Promise<void> {
    return this._step('onboarding.answer', { questionId, choices: [...choices], text });
  }

  skip(questionId: string): Promise<void> {
    return this._step('onboarding.skip', { questionId });
  }

  /** The words as the agent's model would put them. Rejects with the reason. */
  phrase(questionId: string, text: string): Promise<OnboardingPhrased> {
    return this.client.request(
      'onboarding.phrase',
      { agentId: this.agentId(), questionId, text },
      PHRASING_MS
    );
  }

  back(): Promise<void> {
    return this._step('onboarding.back', {});
  }

  async readFiles(): Promise<void> {
    await this.attempt(async () => {
      const { files } = await this.client.request('onboarding.preview', { agentId: this.agentId() });
      this._files = files;
    });
  }

  /** Writes the files as they are shown; if one has changed since, all are shown again. */
  async write(): Promise<void> {
    const files = (this._files ?? [])
      .filter(({ problem }) => !problem)
      .map(({ path, basedOn, checksum }) => ({ path, basedOn: basedOn ?? '', checksum: checksum ?? '' }));
    await this._act(async () => {
      try {
        const { paths } = await this.client.request('onboarding.write', { agentId: this.agentId(), files });
        this._written = paths;
      } catch (error) {
        this._hasConflict = isConflict(error as Error);
        if (!this._hasConflict) {
          throw error;
        }
      }
    });
    await (this._hasConflict ? this.readFiles() : this.load());
  }

  protected async read(): Promise<() => void> {
    const state = await this.client.request('onboarding.state', { agentId: this.agentId() });
    return () => this._take(state);
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'onboarding.updated' && !this._isBusy;
  }

  private async _step(
    method: 'onboarding.answer' | 'onboarding.skip' | 'onboarding.back',
    params: object
  ): Promise<void> {
    this._written = null;
    await this._act(async () => {
      const state = await this.client.request(method, { agentId: this.agentId(), ...params } as never);
      this.invalidatePending();
      this._take(state as OnboardingState);
    });
  }

  private async _act(action: () => Promise<void>): Promise<void> {
    if (this._isBusy) {
      return;
    }
    this._isBusy = true;
    this.emit();
    await this.attempt(async () => {
      try {
        await action();
      } finally {
        this._isBusy = false;
      }
    });
  }

  private _take(state: OnboardingState): void {
    this._state = state;
    if (state.question) {
      this._files = null;
      this._hasConflict = false;
    }
  }

  private _state: OnboardingState | null = null;
  private _files: readonly OnboardingFile[] | null = null;
  private _written: readonly string[] | null = null;
  private _hasConflict = false;
  private _isBusy = false;
}
