/**
 * What each turn of the current session did to notebooks, and undoing it. After a reload the server reports
 * the same again.
 */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { NotebookReverted, TurnInfo } from '../../protocol/wire';
import { ChangeFeed } from './change_feed';
import { ViewModel } from '../../shared/view_model';

const DEBOUNCE_MS = 200;

/** A turn and the state of its undo: in progress, its outcome, why it failed. */
export interface TurnState {
  readonly turn: TurnInfo;
  readonly isBusy: boolean;
  readonly outcome: NotebookReverted | null;
  readonly problem: string | null;
}

type Doing = Omit<TurnState, 'turn'>;

const IDLE: Doing = { isBusy: false, outcome: null, problem: null };

export class TurnChanges extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
    this._feed = new ChangeFeed(client, {
      debounceMs: DEBOUNCE_MS,
      isRelevant: frame => this._isRelevant(frame),
      params: () => (this._sessionKey === null ? null : { sessionKey: this._sessionKey }),
      take: ({ turns }, { sessionKey }) => {
        if (sessionKey === this._sessionKey) {
          this._states = new Map(turns.map(turn => [turn.runId, this._state(turn)]));
          this.emit();
        }
      }
    });
  }

  /** Follows this session; null for one that the server doesn't know yet. */
  follow(sessionKey: string | null): void {
    if (sessionKey !== this._sessionKey) {
      this._sessionKey = sessionKey;
      this._states = new Map();
      this._doing.clear();
      this.emit();
      this._feed.refresh();
    }
  }

  /** By run; a new object only if something about the turn has changed. */
  get turns(): ReadonlyMap<string, TurnState> {
    return this._states;
  }

  async undo(runId: string): Promise<void> {
    await this._act(runId, 'notebook.undo');
  }

  async putBack(runId: string): Promise<void> {
    await this._act(runId, 'notebook.put_back');
  }

  override dispose(): void {
    this._feed.dispose();
    super.dispose();
  }

  private async _act(runId: string, method: 'notebook.undo' | 'notebook.put_back'): Promise<void> {
    const sessionKey = this._sessionKey;
    if (sessionKey === null || this._doing.get(runId)?.isBusy) {
      return;
    }
    this._do(runId, { ...IDLE, isBusy: true });
    let done = IDLE;
    try {
      done = { ...IDLE, outcome: await this.client.request(method, { sessionKey, runId }, 120_000) };
    } catch (error) {
      done = { ...IDLE, problem: String((error as Error).message ?? error) };
    }
    await this._feed.load();
    if (sessionKey === this._sessionKey) {
      this._do(runId, done);
    }
  }

  private _do(runId: string, doing: Doing): void {
    this._doing.set(runId, doing);
    const state = this._states.get(runId);
    if (state) {
      this._states = new Map(this._states).set(runId, { turn: state.turn, ...doing });
    }
    this.emit();
  }

  private _state(turn: TurnInfo): TurnState {
    const known = this._states.get(turn.runId);
    const isSame = known && JSON.stringify(known.turn) === JSON.stringify(turn);
    return isSame ? known : { turn, ...(this._doing.get(turn.runId) ?? IDLE) };
  }

  private _isRelevant(frame: EventFrame): boolean {
    const isOurs = (key: string | null | undefined) => !key || key === this._sessionKey;
    return frame.event === 'notebook.changes_updated' && isOurs(frame.data.sessionKey);
  }

  private _sessionKey: string | null = null;
  private _states: ReadonlyMap<string, TurnState> = new Map();
  private readonly _doing = new Map<string, Doing>();
  private readonly _feed: ChangeFeed;
}
