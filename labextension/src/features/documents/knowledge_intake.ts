/** What this tab adds to the knowledge, followed from start to end, even across a lost connection. */
import type { IDisposable } from '@lumino/disposable';

import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { KnowledgeItemInfo } from '../../protocol/wire';

const ENDED: ReadonlySet<KnowledgeItemInfo['state']> = new Set(['done', 'failed', 'stopped']);

interface IntakeBoard {
  /** Shows a new notification about that item and returns its id. */
  show: (item: KnowledgeItemInfo) => string;
  update: (notice: string, item: KnowledgeItemInfo) => void;
  refused: (path: string, reason: string) => void;
}

export class KnowledgeIntake implements IDisposable {
  constructor(
    private readonly client: SocketClient,
    private readonly board: IntakeBoard
  ) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onState, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Adds files or folders, by their paths in the file browser. */
  async add(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map(path => this._addOne(path)));
  }

  async stop(itemId: string): Promise<void> {
    this._follow(await this.client.request('knowledge.stop', { itemId }));
  }

  dispose(): void {
    this._isDisposed = true;
    this.client.event.disconnect(this._onEvent, this);
    this.client.stateChanged.disconnect(this._onState, this);
    this._notices.clear();
  }

  private async _addOne(path: string): Promise<void> {
    try {
      const item = await this.client.request('knowledge.add', { path });
      if (!this._notices.has(item.itemId)) {
        this._notices.set(item.itemId, this.board.show(item));
      }
    } catch (error) {
      this.board.refused(path, error instanceof Error ? error.message : String(error));
    }
  }

  private _onEvent(_: SocketClient, { event, data }: EventFrame): void {
    if (event === 'knowledge.progress') {
      this._follow(data as KnowledgeItemInfo);
    }
  }

  /** Asks for what was reported while there was no connection. */
  private _onState(_: SocketClient, state: string): void {
    if (state === 'open' && this._notices.size > 0) {
      void this.client.request('knowledge.list', {}).then(
        ({ items }) => items.forEach(item => this._follow(item)),
        () => undefined // the next connection asks again
      );
    }
  }

  private _follow(item: KnowledgeItemInfo): void {
    const notice = this._notices.get(item.itemId);
    if (notice === undefined) {
      return; // added elsewhere
    }
    if (ENDED.has(item.state)) {
      this._notices.delete(item.itemId);
    }
    this.board.update(notice, item);
  }

  private readonly _notices = new Map<string, string>();
  private _isDisposed = false;
}
