/** What the sidebar shows besides the conversation, so that commands and clicks can both change it. */
import { type ISignal, Signal } from '@lumino/signaling';

/** Those of features have their ids, each behind `feature:`. */
export type Panel =
  'conversation' | 'sessions' | 'connect' | 'grants' | 'project' | 'local' | `feature:${string}`;

export const OF_FEATURE = 'feature:';

/** A turn by its entry in the transcript. */
export interface TurnRequest {
  readonly entryId: string;
}

export class ViewState {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get panel(): Panel {
    return this._panel;
  }

  /** Counts the requests to give the input the focus. */
  get focusRequest(): number {
    return this._focusRequest;
  }

  show(panel: Panel): void {
    this._panel = panel;
    this._changed.emit();
  }

  toggle(panel: Panel): void {
    this.show(this._panel === panel ? 'conversation' : panel);
  }

  focusInput(): void {
    this._panel = 'conversation';
    this._focusRequest += 1;
    this._changed.emit();
  }

  /** The turn that is to be brought into view; each request is a new object. */
  get turnRequest(): TurnRequest | null {
    return this._turnRequest;
  }

  showTurn(entryId: string): void {
    this._panel = 'conversation';
    this._turnRequest = { entryId };
    this._changed.emit();
  }

  /** Counts the requests to give the waiting approval the focus. */
  get approvalFocusRequest(): number {
    return this._approvalFocusRequest;
  }

  focusApproval(): void {
    this._panel = 'conversation';
    this._approvalFocusRequest += 1;
    this._changed.emit();
  }

  private _turnRequest: TurnRequest | null = null;
  private _approvalFocusRequest = 0;
  private _panel: Panel = 'conversation';
  private _focusRequest = 0;
  private readonly _changed = new Signal<this, void>(this);
}
