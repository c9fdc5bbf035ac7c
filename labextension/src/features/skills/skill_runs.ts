/** Runs of one skill: earlier ones, and the open one with its progress and result. */
import type { EventFrame } from '../../protocol/frames';
import type { ConnectionState, SocketClient } from '../../protocol/socket_client';
import type { SkillResult, SkillRunInfo } from '../../protocol/wire';
import { ViewModel } from '../../shared/view_model';

const SHOWN_RUNS = 20;

export class SkillRuns extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onConnection, this);
  }

  /** Newest first. */
  get runs(): readonly SkillRunInfo[] {
    return this._runs;
  }

  /** The open run. */
  get current(): SkillRunInfo | null {
    return this._runs.find(run => run.runId === this._currentId) ?? null;
  }

  /** Its result; null while it is running, and until it is read. */
  get result(): SkillResult | null {
    return this._result?.run.runId === this._currentId ? this._result : null;
  }

  /** Why it could not be started, stopped or read. */
  get problem(): string | null {
    return this._problem;
  }

  get isStarting(): boolean {
    return this._isStarting;
  }

  /** Shows the runs of this skill and opens the newest. */
  show(skill: string | null): void {
    if (skill === this._skill) {
      return;
    }
    this._skill = skill;
    this._runs = [];
    this._currentId = null;
    this._result = null;
    this._problem = null;
    this.emit();
    void this._load();
  }

  /** Opens this run. */
  open(runId: string | null): void {
    this._currentId = runId;
    this._problem = null;
    this.emit();
    void this._loadResult();
  }

  /** `path` is the notebook or folder that paths are relative to. */
  async start(parameters: Record<string, unknown>, path: string | null): Promise<void> {
    const name = this._skill;
    if (name === null || this._isStarting) {
      return;
    }
    this._isStarting = true;
    this._problem = null;
    this.emit();
    try {
      const { runId } = await this.client.request('skills.run', { name, parameters, path });
      if (name === this._skill) {
        this._currentId = runId;
        await this._load();
      }
    } catch (error) {
      this._problem = (error as Error).message;
    } finally {
      this._isStarting = false;
      this.emit();
    }
  }

  async stop(runId: string): Promise<void> {
    try {
      await this.client.request('skills.stop', { runId });
    } catch (error) {
      this._problem = (error as Error).message;
      this.emit();
    }
  }

  private async _load(): Promise<void> {
    const name = this._skill;
    if (name === null) {
      return;
    }
    try {
      const { runs } = await this.client.request('skills.runs', { name, limit: SHOWN_RUNS });
      if (name !== this._skill) {
        return;
      }
      this._runs = runs;
      this._currentId ??= runs[0]?.runId ?? null;
    } catch (error) {
      if (name === this._skill) {
        this._problem = (error as Error).message;
      }
    }
    this.emit();
    await this._loadResult();
  }

  private async _loadResult(): Promise<void> {
    const run = this.current;
    if (!run || run.status === 'running' || this.result) {
      return;
    }
    try {
      const result = await this.client.request('skills.result', { runId: run.runId });
      if (run.runId === this._currentId) {
        this._result = result;
      }
    } catch (error) {
      if (run.runId === this._currentId) {
        this._problem = (error as Error).message;
      }
    }
    this.emit();
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'skills.run_started' || frame.event === 'skills.run_finished') {
      this._store(frame.data);
    } else if (frame.event === 'skills.run_progress' && frame.data.skill === this._skill) {
      const { runId, index, total, cell, line } = frame.data;
      const progress = { index, total, cell, line };
      this._runs = this._runs.map(run => (run.runId === runId ? { ...run, progress } : run));
      this.emit();
    }
  }

  private _store(run: SkillRunInfo): void {
    if (run.skill !== this._skill) {
      return;
    }
    const isKnown = this._runs.some(one => one.runId === run.runId);
    this._runs = isKnown
      ? this._runs.map(one => (one.runId === run.runId ? run : one))
      : [run, ...this._runs].slice(0, SHOWN_RUNS);
    this.emit();
    if (run.runId === this._currentId) {
      void this._loadResult();
    }
  }

  private _onConnection(_: SocketClient, state: ConnectionState): void {
    if (state === 'open') {
      void this._load();
    }
  }

  private _skill: string | null = null;
  private _runs: readonly SkillRunInfo[] = [];
  private _currentId: string | null = null;
  private _result: SkillResult | null = null;
  private _problem: string | null = null;
  private _isStarting = false;
}
