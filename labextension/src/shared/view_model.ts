/** What a view shows, without React: it tells when it has changed, until it is disposed of. */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

export abstract class ViewModel implements IDisposable {
  /** Something visible has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  protected emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}
