/**
 * What of the open notebooks and editors can be sent along with a message: named here, read by the server.
 */
import type { Cell, ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { IError, IOutput } from '@jupyterlab/nbformat';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ContextItem } from '../../protocol/wire';
import { MAX_SELECTION_CHARS } from '../composer/context_items';
import { serverPath } from './notebook_open';
import { firstLine } from '../../shared/short_text';

const LABEL_CHARS = 60;

/** A panel's cell as something to send along. */
export function cellItem(
  panel: NotebookPanel,
  cell: Cell,
  trans: TranslationBundle,
  type: 'cell' | 'error' = 'cell'
): ContextItem {
  const number = panel.content.widgets.indexOf(cell) + 1;
  const label = isHeading(cell.model) ? `“${cellTitle(cell.model)}”` : trans.__('cell %1', number);
  return { type, path: serverPath(panel.context), cellId: cell.model.id, label };
}

function isHeading(model: ICellModel): boolean {
  return model.type === 'markdown' && /^#{1,6}\s/.test(firstLine(model.sharedModel.getSource()));
}

/** A readable name for a cell: its heading, else its first line. */
export function cellTitle(model: ICellModel): string {
  const line = firstLine(model.sharedModel.getSource());
  const heading = model.type === 'markdown' ? line.replace(/^#{1,6}\s+/, '') : line;
  return heading.length > LABEL_CHARS ? `${heading.slice(0, LABEL_CHARS - 1)}…` : heading;
}

/** The error that a cell shows; null if none. */
export function errorOf(model: ICellModel): IError | null {
  if (model.type !== 'code') {
    return null;
  }
  const { outputs } = model as ICodeCellModel;
  for (let index = 0; index < outputs.length; index += 1) {
    const output = outputs.get(index);
    if (output.type === 'error') {
      return output.toJSON() as IOutput as IError;
    }
  }
  return null;
}

/** The cell that failed last: by its execution count, in a tie the lowest one. */
export function lastError(panel: NotebookPanel): { cell: Cell; error: IError } | null {
  let found: { cell: Cell; error: IError; count: number } | null = null;
  for (const cell of panel.content.widgets) {
    const error = errorOf(cell.model);
    const count = (cell.model as ICodeCellModel).executionCount ?? 0;
    if (error && count >= (found?.count ?? 0)) {
      found = { cell, error, count };
    }
  }
  return found;
}

/** The selection in the active cell of the notebook in front; null if empty. */
export function cellSelection(
  tracker: INotebookTracker | null,
  trans: TranslationBundle
): ContextItem | null {
  const panel = tracker?.currentWidget;
  const cell = tracker?.activeCell;
  const selected = cell?.editor ? selectedText(cell.editor) : null;
  return panel && cell && selected
    ? { ...cellItem(panel, cell, trans), type: 'selection', ...selected }
    : null;
}

/** The selection in the text file in front. */
export function editorSelection(tracker: IEditorTracker | null): ContextItem | null {
  const widget = tracker?.currentWidget;
  const selected = widget ? selectedText(widget.content.editor) : null;
  return widget && selected ? { type: 'selection', path: serverPath(widget.context), ...selected } : null;
}

function selectedText(
  editor: CodeEditor.IEditor
): { text: string; startLine: number; endLine: number } | null {
  const selection = editor.getSelection();
  const [from, to] = [editor.getOffsetAt(selection.start), editor.getOffsetAt(selection.end)].sort(
    (left, right) => left - right
  );
  const text = editor.model.sharedModel.getSource().slice(from, to).slice(0, MAX_SELECTION_CHARS);
  if (text.trim() === '') {
    return null;
  }
  const before = editor.model.sharedModel.getSource().slice(0, from);
  const startLine = before.split('\n').length;
  // A trailing line end belongs to the line before it.
  return { text, startLine, endLine: startLine + text.replace(/\n$/, '').split('\n').length - 1 };
}
