/**
 * The undecided changes that turns made to one notebook: kept current from the server, with the user's
 * actions on them. After a reload the server reports the same again.
 */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { CellMark, NotebookMarksParams, NotebookReverted } from '../../protocol/wire';
import { cellHash } from '../notebooks/cell_hash';
import { ChangeFeed } from './change_feed';
import { nameOf } from './mark_words';
import { ViewModel } from '../../shared/view_model';

const DEBOUNCE_MS = 120;

export class NotebookMarks extends ViewModel {
  constructor(
    private readonly client: SocketClient,
    private readonly path: () => string
  ) {
    super();
    this._feed = new ChangeFeed(client, {
      debounceMs: DEBOUNCE_MS,
      isRelevant: frame => this._isRelevant(frame),
      params: () => ({ path: this.path() }),
      take: ({ marks }) => {
        this._marks = marks;
        this.emit();
      }
    });
    this.refresh();
  }

  get marks(): readonly CellMark[] {
    return this._marks;
  }

  /** The outcome of the last revert, if it left something alone; null once dismissed. */
  get outcome(): NotebookReverted | null {
    return this._outcome;
  }

  /** Why the user's last action failed. */
  get problem(): string | null {
    return this._problem;
  }

  get isBusy(): boolean {
    return this._isBusy;
  }

  /** Asks the server again, soon; several calls within a moment count as one. */
  refresh(): void {
    this._feed.refresh();
  }

  /** Keeps the changes of these cells, or with null all changes. */
  async keep(cellIds: readonly string[] | null): Promise<void> {
    await this._act(async () => {
      await this.client.request('notebook.accept', this._params(cellIds));
    });
  }

  /** Restores these cells, or with null all cells. */
  async revert(cellIds: readonly string[] | null): Promise<void> {
    await this._act(async () => {
      const outcome = await this.client.request('notebook.reject', this._params(cellIds), 60_000);
      this._outcome = outcome.leftAlone.length > 0 ? outcome : null;
    });
  }

  /** Dismisses the message about the last revert. */
  dismiss(): void {
    this._outcome = null;
    this._problem = null;
    this.emit();
  }

  override dispose(): void {
    this._feed.dispose();
    super.dispose();
  }

  /** Includes what is shown at this moment: an active turn may have changed more since. */
  private _params(cellIds: readonly string[] | null): NotebookMarksParams {
    const marks = this._marks.filter(mark => cellIds === null || cellIds.includes(mark.cellId));
    const shown = Object.fromEntries(
      marks.map(({ cellId, after }) => [cellId, after ? cellHash(after.source) : ''] as const)
    );
    return { path: this.path(), shown, ...(cellIds === null ? {} : { cellIds: [...cellIds] }) };
  }

  private async _act(action: () => Promise<void>): Promise<void> {
    if (this._isBusy) {
      return;
    }
    this._isBusy = true;
    this._outcome = null;
    this._problem = null;
    this.emit();
    try {
      await action();
    } catch (error) {
      this._problem = String((error as Error).message ?? error);
    }
    this._isBusy = false;
    await this._feed.load();
    this.emit();
  }

  private _isRelevant(frame: EventFrame): boolean {
    if (frame.event === 'notebook.changes_updated') {
      // The server follows links, so only the name is certain to match.
      const name = nameOf(this.path());
      const isOurs =
        !frame.data.paths || frame.data.paths.some(path => nameOf(path) === name || !path.includes('.'));
      this._outcome = isOurs ? null : this._outcome; // it was about an earlier state
      return isOurs;
    }
    if (frame.event === 'session.updated' && frame.data.activity === 'idle') {
      const { sessionKey } = frame.data;
      return this._marks.some(
        mark => mark.working && mark.turns.some(turn => turn.sessionKey === sessionKey)
      );
    }
    return false;
  }

  private _marks: readonly CellMark[] = [];
  private _outcome: NotebookReverted | null = null;
  private _problem: string | null = null;
  private _isBusy = false;
  private readonly _feed: ChangeFeed;
}
