/** From a turn that a search found to the conversation, at that turn. */
import type { ChatModel } from '../chat/chat_model';
import type { ViewState } from '../chat/view_state';

export function openTurn(chat: ChatModel, view: ViewState, sessionKey: string, entryId: string): void {
  const { session } = chat;
  if (sessionKey === session.key && !session.isRunning) {
    void session.reload(); // words that have just come are not known by their entries yet
  }
  chat.openSession(sessionKey);
  view.showTurn(entryId);
}
