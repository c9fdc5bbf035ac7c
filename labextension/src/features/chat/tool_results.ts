/** How features show what their tools gave back, in the opened card of a call. It knows none of them. */
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { ReactElement } from 'react';

import type { ToolCall } from './conversation';

/** null where the output is better shown as it is. */
export type ShowResult = (call: ToolCall) => ReactElement | null;

export class ToolResults {
  /** Throws where the tool has one; disposing of the result takes it away again. */
  add(tool: string, show: ShowResult): IDisposable {
    if (this._shows.has(tool)) {
      throw new Error(`What '${tool}' gives back is shown already.`);
    }
    this._shows.set(tool, show);
    return new DisposableDelegate(() => void this._shows.delete(tool));
  }

  /** null for a tool whose output is shown as it is. */
  show(call: ToolCall): ReactElement | null {
    return this._shows.get(call.tool)?.(call) ?? null;
  }

  private readonly _shows = new Map<string, ShowResult>();
}
