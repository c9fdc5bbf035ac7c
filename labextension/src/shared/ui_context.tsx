/** What every part of the view may use without being handed it: words, rendering, and a way into the notebook. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { createContext, useContext } from 'react';

import type { Citation } from './citations';
import type { MemoryActions } from '../features/memory/memory_actions';
import type { ShowResult } from '../features/chat/tool_results';
import type { Rendering } from '../rendering/rendering';

export interface Ui {
  trans: TranslationBundle;
  rendering: Rendering;
  /** Put code into a new cell below the active one of the notebook in front; null when there is no notebook. */
  insertCode: ((code: string) => void) | null;
  copy: (text: string) => void;
  /** Bring a cell into view, by its id or by its place, counted from 1; absent where this page shows no notebooks. */
  showCell?: (path: string, cell: string | number) => void;
  /** Open a file in JupyterLab by the path that a tool of the session's agent has for it; absent where none can be. */
  openFile?: (path: string) => void;
  /** What can be done about what the session's agent remembers; absent where a note is only read. */
  memory?: MemoryActions;
  /** Open lines of the session's agent's memory in the memory panel; absent where there is none. */
  openMemory?: (citation: Citation) => void;
  /** How the feature of a tool shows what a call gave back; null for the output as it is. */
  toolResult?: ShowResult;
}

const UiContext = createContext<Ui | null>(null);

export const UiProvider = UiContext.Provider;

export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) {
    throw new Error('This component has to stand inside UiProvider.');
  }
  return ui;
}
