/** One call for many occasions in a row: after a pause, once. */
import type { IDisposable } from '@lumino/disposable';

export class Debounced implements IDisposable {
  constructor(
    private readonly call: () => void,
    private readonly pauseMs = 250
  ) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** There was an occasion. */
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
