/** The scheduled jobs and heartbeats of this home, and what is chosen of them. */
import { RequestError } from '../../protocol/frames';
import type { EventFrame } from '../../protocol/frames';
import type {
  HeartbeatEntry,
  HeartbeatState,
  HistoryEntry,
  JobInfo,
  ScheduleCreateParams,
  SchedulePreview,
  ScheduleUpdateParams
} from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

/** Rows are added by this many: a home may have thousands of jobs. */
const PAGE = 100;
const SHOWN_RUNS = 50;

export type JobFields = Omit<ScheduleCreateParams, 'agentId'>;
export type Chosen =
  | { readonly kind: 'job'; readonly id: string; readonly isEdited: boolean }
  | { readonly kind: 'heartbeat'; readonly agentId: string }
  | { readonly kind: 'away' }
  | { readonly kind: 'new' };

export class Jobs extends LiveList {
  /** Those that run come first, then by their next run; null until read. */
  get jobs(): readonly JobInfo[] | null {
    return this._jobs;
  }

  /** How many fit the query, listed or not. */
  get total(): number {
    return this._total;
  }

  get heartbeats(): readonly HeartbeatState[] {
    return this._heartbeats;
  }

  /** Whether this server runs the jobs; else another one on the same home does. */
  get runsHere(): boolean {
    return this._runsHere;
  }

  /** What is wrong with the file of jobs. */
  get fileProblems(): readonly string[] {
    return this._fileProblems;
  }

  get query(): string {
    return this._query;
  }

  get chosen(): Chosen | null {
    return this._chosen;
  }

  get job(): JobInfo | null {
    const { chosen } = this;
    return chosen?.kind === 'job' ? (this._job?.id === chosen.id ? this._job : null) : null;
  }

  get heartbeat(): HeartbeatState | null {
    const { chosen } = this;
    return chosen?.kind === 'heartbeat'
      ? (this._heartbeats.find(one => one.agentId === chosen.agentId) ?? null)
      : null;
  }

  /** Runs and missed times of the chosen job, newest first; null until read. */
  get history(): readonly HistoryEntry[] | null {
    return this._history;
  }

  /** What heartbeats said or did, newest first; null until read. */
  get beats(): readonly HeartbeatEntry[] | null {
    return this._beats;
  }

  search(query: string): void {
    this._query = query;
    this._limit = PAGE;
    this.emit();
    void this.load();
  }

  showMore(): void {
    this._limit += PAGE;
    void this.load();
  }

  choose(chosen: Chosen | null): void {
    const before = this._chosen;
    this._chosen = chosen;
    if (chosen?.kind !== before?.kind || idOf(chosen) !== idOf(before)) {
      this._history = this._beats = null;
      this._job = (chosen?.kind === 'job' && this._jobs?.find(one => one.id === chosen.id)) || null;
    }
    this.forgetProblems();
    this.emit();
    void this.load();
  }

  /** What would become of these fields of a new job, or of the changes to one. Rejects with the reason. */
  preview(fields: JobFields, jobId: string | null): Promise<SchedulePreview> {
    return this.client.request('schedule.preview', { ...fields, jobId });
  }

  /** Adds a job and shows it. */
  create(fields: JobFields): Promise<void> {
    return this.attempt(async () => {
      const { job } = await this.client.request('schedule.create', fields);
      this.choose({ kind: 'job', id: job.id, isEdited: false });
    });
  }

  /** Changes a job, and leaves its form. */
  change(fields: ScheduleUpdateParams): Promise<void> {
    return this.attempt(async () => {
      const { job } = await this.client.request('schedule.update', fields);
      this._job = job;
      this.choose({ kind: 'job', id: job.id, isEdited: false });
    });
  }

  runNow(jobId: string): Promise<void> {
    return this.attempt(async () => {
      await this.client.request('schedule.runNow', { jobId });
    });
  }

  /** Adds what a run was denied to what its job may use, and runs it again. */
  allowAndRun(job: JobInfo, denied: readonly string[]): Promise<void> {
    return this.attempt(async () => {
      const policy = [...new Set([...job.policy, ...denied])];
      await this.client.request('schedule.update', { jobId: job.id, policy });
      await this.client.request('schedule.runNow', { jobId: job.id });
    });
  }

  remove(jobId: string): Promise<void> {
    return this.attempt(async () => {
      await this.client.request('schedule.cancel', { jobId });
      this.choose(null);
    });
  }

  /** Lets an agent look after its HEARTBEAT.md now. */
  wake(agentId: string): Promise<void> {
    return this.attempt(async () => {
      await this.client.request('schedule.wake', { agentId });
      await this.load();
    });
  }

  protected async read(): Promise<() => void> {
    const { chosen } = this;
    const params = { limit: this._limit, query: this._query || null };
    const [list, states, part] = await Promise.all([
      this.client.request('schedule.list', params),
      this.client.request('schedule.heartbeatStates', {}),
      this._readChosen(chosen)
    ]);
    return () => {
      this._jobs = list.jobs;
      this._total = list.total;
      this._runsHere = list.runsHere;
      this._fileProblems = list.problems;
      this._heartbeats = states.agents;
      if (this._chosen === chosen) {
        part();
      }
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return ['schedule.updated', 'schedule.heartbeat', 'settings.updated'].includes(frame.event);
  }

  private async _readChosen(chosen: Chosen | null): Promise<() => void> {
    if (chosen?.kind === 'job') {
      const [job, { entries }] = await Promise.all([
        this._readJob(chosen.id),
        this.client.request('schedule.history', { jobId: chosen.id, limit: SHOWN_RUNS })
      ]);
      return () => {
        this._job = job;
        this._history = entries;
        if (!job) {
          this._chosen = null;
        }
      };
    }
    if (chosen?.kind === 'heartbeat') {
      const { entries } = await this.client.request('schedule.heartbeats', { limit: 200 });
      return () => {
        this._beats = entries.filter(entry => entry.agentId === chosen.agentId);
      };
    }
    return () => undefined;
  }

  /** null if it was removed meanwhile. */
  private async _readJob(jobId: string): Promise<JobInfo | null> {
    try {
      return (await this.client.request('schedule.get', { jobId })).job;
    } catch (error) {
      if (error instanceof RequestError && error.reason === 'not_found') {
        return null;
      }
      throw error;
    }
  }

  private _jobs: readonly JobInfo[] | null = null;
  private _total = 0;
  private _heartbeats: readonly HeartbeatState[] = [];
  private _runsHere = true;
  private _fileProblems: readonly string[] = [];
  private _query = '';
  private _limit = PAGE;
  private _chosen: Chosen | null = null;
  private _job: JobInfo | null = null;
  private _history: readonly HistoryEntry[] | null = null;
  private _beats: readonly HeartbeatEntry[] | null = null;
}

function idOf(chosen: Chosen | null): string | null {
  return chosen?.kind === 'job' ? chosen.id : chosen?.kind === 'heartbeat' ? chosen.agentId : null;
}
