/** Combines many requests in a row into one call, after a pause. */
import type { IDisposable } from '@lumino/disposable';

export class Debounced implements IDisposable {
  constructor(
    private readonly call: () => void,
    private readonly pauseMs = 250
  ) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Requests a call. */
  ask(): void {
    clearTimeout(this._timer);
    if (!this._isDisposed) {
      this._timer = setTimeout(this.call, this.pauseMs);
    }
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}
