/** What the sidebar shows besides the conversation, so that commands and clicks can both change it. */
import { type ISignal, Signal } from '@lumino/signaling';

/** A feature's panel is its id prefixed with `feature:`. */
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

  /** Incremented with each request to focus the input. */
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

  /** The turn to scroll to; each request is a new object. */
  get turnRequest(): TurnRequest | null {
    return this._turnRequest;
  }

  showTurn(entryId: string): void {
    this._panel = 'conversation';
    this._turnRequest = { entryId };
    this._changed.emit();
  }

  /** Incremented with each request to focus the waiting approval. */
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
