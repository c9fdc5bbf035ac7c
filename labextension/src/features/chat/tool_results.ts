/** How features show the results of their tools in the opened card of a call. */
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { ReactElement } from 'react';

import type { ToolCall } from './conversation';

/** null if the output is better shown as it is. */
export type ShowResult = (call: ToolCall) => ReactElement | null;

export class ToolResults {
  /** Throws if the tool already has one; disposing of the result removes it. */
  add(tool: string, show: ShowResult): IDisposable {
    if (this._renderers.has(tool)) {
      throw new Error(`What '${tool}' gives back is shown already.`);
    }
    this._renderers.set(tool, show);
    return new DisposableDelegate(() => void this._renderers.delete(tool));
  }

  /** null for a tool whose output is shown as it is. */
  show(call: ToolCall): ReactElement | null {
    return this._renderers.get(call.tool)?.(call) ?? null;
  }

  private readonly _renderers = new Map<string, ShowResult>();
}
