/** The tokens that this extension's plugins provide to one another, and to others. */
import { Token } from '@lumino/coreutils';

import type { Assistant } from './features/chat/assistant';
import type { ChatModel } from './features/chat/chat_model';
import type { NotebookFront } from './features/notebooks/notebook_front';
import type { SidebarPanels } from './features/chat/sidebar_panels';
import type { ToolResults } from './features/chat/tool_results';
import type { RestClient } from './protocol/rest_client';
import type { SessionEvents } from './protocol/session_events';
import type { SocketClient } from './protocol/socket_client';
import type { Rendering } from './rendering/rendering';
import type { ChatSidebar } from './features/chat/chat_sidebar';

/** The connection to the server. */
export interface IOnyxConnection {
  readonly client: SocketClient;
  readonly events: SessionEvents;
  readonly rest: RestClient;
  readonly assistant: Assistant;
}

export const IOnyxConnection = new Token<IOnyxConnection>(
  'onyx-jupyter:IOnyxConnection',
  'The connection to the Onyx server extension.'
);

/** The notebook in front. */
export type INotebookFront = NotebookFront;

export const INotebookFront = new Token<INotebookFront>(
  'onyx-jupyter:INotebookFront',
  'The notebook that a person has in front.'
);

/** How text from a model, a tool or a page is drawn. */
export type IOnyxRendering = Rendering;

export const IOnyxRendering = new Token<IOnyxRendering>(
  'onyx-jupyter:IOnyxRendering',
  'Draws what models, tools and pages wrote, through one allow-list.'
);

/** The chat and the sidebar that shows it. */
export interface IOnyxChat {
  readonly model: ChatModel;
  readonly sidebar: ChatSidebar;
  /** Opens the sidebar at the conversation, even if it was closed. */
  readonly reveal: (options?: { focusInput?: boolean }) => void;
  /**
   * What features show there in place of the conversation; each gets an entry in its menu and in the palette.
   */
  readonly panels: SidebarPanels;
  /** How features show the results of their tools in the opened card of a call. */
  readonly results: ToolResults;
  /** Opens the sidebar at a turn of a conversation, by its entry in the transcript. */
  readonly revealTurn: (sessionKey: string, entryId: string) => void;
}

export const IOnyxChat = new Token<IOnyxChat>('onyx-jupyter:IOnyxChat', 'The Onyx chat and its sidebar.');
