/** What every part of the view can use without props: words, rendering, and access to the notebook. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { createContext, useContext } from 'react';

import type { Citation } from './citations';
import type { MemoryActions } from '../features/memory/memory_actions';
import type { ShowResult } from '../features/chat/tool_results';
import type { Rendering } from '../rendering/rendering';

export interface Ui {
  trans: TranslationBundle;
  rendering: Rendering;
  /**
   * Puts code into a new cell below the active one of the notebook in front; null if there is no notebook.
   */
  insertCode: ((code: string) => void) | null;
  copy: (text: string) => void;
  /** Scrolls to a cell by its id or by its place, counted from 1; absent if this page shows no notebooks. */
  showCell?: (path: string, cell: string | number) => void;
  /**
   * Opens a file in JupyterLab by the path that the session agent's tools use; absent if none can be opened.
   */
  openFile?: (path: string) => void;
  /** The actions on what the session's agent remembers; absent if notes are read-only. */
  memory?: MemoryActions;
  /** Opens lines of the session agent's memory in the memory panel; absent if there is none. */
  openMemory?: (citation: Citation) => void;
  /** How a tool's feature shows the result of a call; null for the output as it is. */
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
