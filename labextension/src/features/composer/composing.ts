/**
 * Tells the server that the user is typing. At the first letter it loads what an answer needs. A model on the
 * server's own machine also reads ahead what the message will begin with: when the input gets the focus,
 * since its process may have to start, at the first letter, then once per pause. The message itself is not
 * sent.
 */
import type { IDisposable } from '@lumino/disposable';

import type { SocketClient } from '../../protocol/socket_client';
import type { ChatComposingParams } from '../../protocol/wire';

export const PAUSE_MS = 500;
/** More text says no more about the topic. */
export const MAX_CHARS = 1000;

/** Where the message would be sent now; `answeredBy` is the model that would answer, null if unknown. */
interface Addressee extends Omit<ChatComposingParams, 'text'> {
  answeredBy: string | null;
}

const LOCAL = 'local/';

export class Composing implements IDisposable {
  /**
   * Unless the model runs on the server's own machine, the server only learns that somebody is typing, not
   * what.
   */
  constructor(
    private readonly client: SocketClient,
    private readonly to: () => Addressee
  ) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The empty input has got the focus, and no answer is in progress. */
  onInputExpected(): void {
    if (this._text.trim() === '' && !this._isDisposed && this._isPrefillEnabled) {
      this._sendDraft();
    }
  }

  /** The user has changed the text by hand. */
  typed(text: string): void {
    const isFirst = this._text.trim() === '';
    this._text = text;
    this._stop();
    if (text.trim() === '' || this._isDisposed) {
      return;
    }
    if (isFirst) {
      this._sendDraft();
    } else if (this._isPrefillEnabled) {
      this._timer = setTimeout(() => this._sendDraft(), PAUSE_MS);
    }
  }

  /** The text was sent, or replaced by another. */
  ended(): void {
    this._text = '';
    this._stop();
  }

  dispose(): void {
    this._isDisposed = true;
    this._stop();
  }

  private get _isPrefillEnabled(): boolean {
    return this.to().answeredBy?.startsWith(LOCAL) ?? false;
  }

  private _sendDraft(): void {
    if (this.client.state !== 'open') {
      return;
    }
    const { answeredBy: _, ...to } = this.to();
    const text = this._isPrefillEnabled ? this._text.slice(0, MAX_CHARS) : '';
    this.client.request('chat.composing', { ...to, text }).catch(() => {
      // What was not loaded or read ahead is done when the message is sent.
    });
  }

  private _stop(): void {
    clearTimeout(this._timer);
  }

  private _text = '';
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}
