/**
 * Whether a notebook's kernel continued unchanged, or was lost to a crash, a restart, a shutdown or another
 * choice.
 */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

const ENDS: readonly string[] = ['restarting', 'autorestarting', 'terminating', 'dead'];

/** One watch, from its creation until it is disposed. */
export class KernelLife implements IDisposable {
  constructor(panel: NotebookPanel) {
    this._context = panel.sessionContext;
    this._context.statusChanged.connect(this._onStatus, this);
    this._context.kernelChanged.connect(this._onEnd, this);
  }

  /** Whether the variables from the beginning are gone by now. */
  get hasEnded(): boolean {
    return this._hasEnded;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._context.statusChanged.disconnect(this._onStatus, this);
      this._context.kernelChanged.disconnect(this._onEnd, this);
    }
  }

  private _onStatus(_: ISessionContext, status: Kernel.Status): void {
    if (ENDS.includes(status)) {
      this._onEnd();
    }
  }

  private _onEnd(): void {
    this._hasEnded = true;
  }

  private readonly _context: ISessionContext;
  private _hasEnded = false;
  private _isDisposed = false;
}
