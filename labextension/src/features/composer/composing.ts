/**
 * Tells the server that a person writes. At the first letter it loads what an answer needs; a model of its own machine
 * also reads what the message will begin with: when the input gets the focus, since its process may have to start, at
 * the first letter, then once for each pause. It sends no message.
 */
import type { IDisposable } from '@lumino/disposable';

import type { SocketClient } from '../../protocol/socket_client';
import type { ChatComposingParams } from '../../protocol/wire';

export const PAUSE_MS = 500;
/** More does not tell more of what it will be about. */
export const MAX_CHARS = 1000;

/** Whom the message would go to now; `answeredBy` is the model that would answer, null where that is not known. */
interface Addressee extends Omit<ChatComposingParams, 'text'> {
  answeredBy: string | null;
}

const LOCAL = 'local/';

export class Composing implements IDisposable {
  /** Where the model is none of the server's own machine, it is told that somebody writes, and nothing of what. */
  constructor(
    private readonly client: SocketClient,
    private readonly to: () => Addressee
  ) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The input has the focus and nothing in it, and no answer is under way. */
  awaited(): void {
    if (this._text.trim() === '' && !this._isDisposed && this._isReadAhead) {
      this._tell();
    }
  }

  /** The person has changed the text by hand. */
  typed(text: string): void {
    const isFirst = this._text.trim() === '';
    this._text = text;
    this._stop();
    if (text.trim() === '' || this._isDisposed) {
      return;
    }
    if (isFirst) {
      this._tell();
    } else if (this._isReadAhead) {
      this._timer = setTimeout(() => this._tell(), PAUSE_MS);
    }
  }

  /** The text was sent, or another one came into its place. */
  ended(): void {
    this._text = '';
    this._stop();
  }

  dispose(): void {
    this._isDisposed = true;
    this._stop();
  }

  private get _isReadAhead(): boolean {
    return this.to().answeredBy?.startsWith(LOCAL) ?? false;
  }

  private _tell(): void {
    if (this.client.state !== 'open') {
      return;
    }
    const { answeredBy: _, ...to } = this.to();
    const text = this._isReadAhead ? this._text.slice(0, MAX_CHARS) : '';
    this.client.request('chat.composing', { ...to, text }).catch(() => {
      // What is not read or loaded ahead is when it is asked.
    });
  }

  private _stop(): void {
    clearTimeout(this._timer);
  }

  private _text = '';
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}
