/**
 * Answers the server's requests about notebooks open in this tab, each exactly once. The given actions carry
 * them out; this file doesn't depend on JupyterLab.
 */
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

import { MAX_FRAME_BYTES, jsonBytes } from '../../protocol/frame_size';
import type { EventFrame } from '../../protocol/frames';
import type { ConnectionState, SocketClient } from '../../protocol/socket_client';
import type { ClientError, OpenNotebook } from '../../protocol/wire';

export type Params = Record<string, unknown>;
export type Action = (params: Params) => Promise<Record<string, unknown>>;

type Outcome = { result: Record<string, unknown> } | { error: ClientError };

/** A refusal with a code that the server knows (`ClientError` in the wire types). */
export class ActionError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly data: Record<string, unknown> | null = null
  ) {
    super(message);
    this.name = 'ActionError';
  }
}

export class NotebookBridge implements IDisposable {
  /**
   * `cards` are the MIME types of our outputs that are drawn here; `folder` is what the file browser shows,
   * null if there is none.
   */
  constructor(
    private readonly client: SocketClient,
    private readonly actions: Readonly<Record<string, Action>>,
    private readonly openNotebooks: () => OpenNotebook[],
    private readonly cards: () => string[] = () => [],
    private readonly folder: () => string | null = () => null
  ) {
    client.event.connect(this._onEvent, this);
    client.stateChanged.connect(this._onState, this);
    this.announce();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Tells the server which notebooks are open here and what is drawn in them, if it doesn't know yet. */
  announce(): void {
    if (this._isDisposed || this.client.state !== 'open') {
      return;
    }
    const shown = { notebooks: this.openNotebooks(), cards: this.cards(), folder: this.folder() };
    const sent = JSON.stringify(shown);
    if (sent === this._lastSent) {
      return;
    }
    this._lastSent = sent;
    this.client.request('client.update', { ...shown, pageId: this._pageId }).catch(() => {
      this._lastSent = null;
    });
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.client.event.disconnect(this._onEvent, this);
      this.client.stateChanged.disconnect(this._onState, this);
    }
  }

  private _onState(_: SocketClient, state: ConnectionState): void {
    this._lastSent = null;
    if (state === 'open') {
      this.announce();
    }
  }

  private _onEvent(_: SocketClient, frame: EventFrame): void {
    if (frame.event === 'client.request') {
      const { requestId, action, params } = frame.data;
      void this._answer(requestId, action, params);
    }
  }

  private async _answer(requestId: string, action: string, params: Params): Promise<void> {
    const answer = { requestId, ...fitting(await this._outcome(action, params)) };
    if (this._isDisposed) {
      return;
    }
    try {
      await this.client.request('client.respond', answer);
    } catch {
      // The server asked over a connection that is gone, and has already given up on this tab.
    }
  }

  private async _outcome(action: string, params: Params): Promise<Outcome> {
    try {
      if (!Object.hasOwn(this.actions, action)) {
        throw new ActionError('bad_request', `This version of the Onyx extension does not know ${action}.`);
      }
      return { result: await this.actions[action](params) };
    } catch (error) {
      if (error instanceof ActionError) {
        return { error: { code: error.code, message: error.message, data: error.data } };
      }
      console.error('Onyx: a notebook action failed', error);
      return { error: { code: 'internal', message: String(error) } };
    }
  }

  private readonly _pageId = UUID.uuid4();
  private _lastSent: string | null = null;
  private _isDisposed = false;
}

/**
 * An answer too large for a frame would end the connection; none should be, but if one is, it reports that
 * instead.
 */
function fitting(outcome: Outcome): Outcome {
  if (jsonBytes(outcome) <= MAX_FRAME_BYTES - 4096) {
    return outcome;
  }
  return { error: { code: 'too_large', message: 'The answer is too large to be sent.', data: null } };
}
