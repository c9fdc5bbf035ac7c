/** What the sidebar shows besides the conversation, so that commands and clicks can both change it. */
import type { ChatModel } from './chat_model';
import { ViewModel } from '../../shared/view_model';

/** A feature's panel is its id prefixed with `feature:`. */
export type Panel =
  'conversation' | 'sessions' | 'connect' | 'grants' | 'project' | 'local' | `feature:${string}`;

export const OF_FEATURE = 'feature:';

/** A turn by its entry in the transcript. */
export interface TurnRequest {
  readonly entryId: string;
}

export class ViewState extends ViewModel {
  get panel(): Panel {
    return this._panel;
  }

  /** Incremented with each request to focus the input. */
  get focusRequest(): number {
    return this._focusRequest;
  }

  show(panel: Panel): void {
    this._panel = panel;
    this.emit();
  }

  toggle(panel: Panel): void {
    this.show(this._panel === panel ? 'conversation' : panel);
  }

  focusInput(): void {
    this._panel = 'conversation';
    this._focusRequest += 1;
    this.emit();
  }

  /** The turn to scroll to; each request is a new object. */
  get turnRequest(): TurnRequest | null {
    return this._turnRequest;
  }

  showTurn(entryId: string): void {
    this._panel = 'conversation';
    this._turnRequest = { entryId };
    this.emit();
  }

  /** Incremented with each request to focus the waiting approval. */
  get approvalFocusRequest(): number {
    return this._approvalFocusRequest;
  }

  focusApproval(): void {
    this._panel = 'conversation';
    this._approvalFocusRequest += 1;
    this.emit();
  }

  private _turnRequest: TurnRequest | null = null;
  private _approvalFocusRequest = 0;
  private _panel: Panel = 'conversation';
  private _focusRequest = 0;
}

/** Opens the conversation at a turn that a search found. */
export function openTurn(chat: ChatModel, view: ViewState, sessionKey: string, entryId: string): void {
  const { session } = chat;
  if (sessionKey === session.key && !session.isRunning) {
    void session.reload(); // text that has just arrived has no entry id yet
  }
  chat.openSession(sessionKey);
  view.showTurn(entryId);
}
