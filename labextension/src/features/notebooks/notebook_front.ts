/** The notebook in front: what is sent along with a message, and where code from an answer goes. */
import { type ISignal, Signal } from '@lumino/signaling';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ContextItem } from '../../protocol/wire';
import { cellItem, lastError } from './notebook_context';

import { serverPath } from './notebook_open';
import { ViewModel } from '../../shared/view_model';

export class NotebookFront extends ViewModel {
  /** Without a tracker (Notebook 7's file list) there is never a notebook in front. */
  constructor(private readonly tracker: INotebookTracker | null) {
    super();
    tracker?.currentChanged.connect(this.emit, this);
    tracker?.activeCellChanged.connect(this._onCell, this);
  }

  /** Another cell is active: the error shown may have changed with it. */
  get cellChanged(): ISignal<this, void> {
    return this._cellChanged;
  }

  get path(): string | null {
    const panel = this.tracker?.currentWidget;
    return panel ? serverPath(panel.context) : null;
  }

  /** Whether it is sent along with the next message. */
  get isIncluded(): boolean {
    return this.path !== null && this.path !== this._leftOut;
  }

  /** Sends it along or leaves it out, until another notebook has come to the front and this one returns. */
  include(included: boolean): void {
    this._leftOut = included ? null : this.path;
    this.emit();
  }

  get activeCellId(): string | null {
    return this.tracker?.activeCell?.model.id ?? null;
  }

  /** The error that it shows, the newest if there are several. */
  lastError(trans: TranslationBundle): ContextItem | null {
    const panel = this.tracker?.currentWidget;
    const found = panel && lastError(panel);
    return panel && found ? cellItem(panel, found.cell, trans, 'error') : null;
  }

  /** Inserts a new code cell below the active one. */
  insertCode(code: string): void {
    const panel = this.tracker?.currentWidget;
    const model = panel?.context.model.sharedModel;
    if (!panel || !model) {
      return;
    }
    const index = panel.content.activeCellIndex + 1;
    model.insertCell(index, { cell_type: 'code', source: code, metadata: { trusted: true } });
    panel.content.activeCellIndex = index;
    void panel.content.scrollToItem(index, 'smart').catch(() => undefined);
  }

  private _onCell(): void {
    this._cellChanged.emit();
  }

  private _leftOut: string | null = null;
  private readonly _cellChanged = new Signal<this, void>(this);
}
