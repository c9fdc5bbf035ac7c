/** Opens the conversation at a turn that a search found. */
import type { ChatModel } from '../chat/chat_model';
import type { ViewState } from '../chat/view_state';

export function openTurn(chat: ChatModel, view: ViewState, sessionKey: string, entryId: string): void {
  const { session } = chat;
  if (sessionKey === session.key && !session.isRunning) {
    void session.reload(); // text that has just arrived has no entry id yet
  }
  chat.openSession(sessionKey);
  view.showTurn(entryId);
}
