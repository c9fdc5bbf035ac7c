/** What the server is told about an open notebook: its cells, in as many parts as frames have room for. */
import type { ISharedCell, ISharedNotebook } from '@jupyter/ydoc';

import { isCode } from './cell_content';
import { cellHash } from './cell_hash';
import { MAX_ANSWER_BYTES, jsonBytes, wellFormed } from './frame_size';
import { ActionError } from './notebook_bridge';
import { READ_LIMITS, fullOutputs, limitOutputs } from './output_limits';
import type { OutputBudget } from './output_limits';

export interface NotebookPart extends Record<string, unknown> {
  cells: Record<string, unknown>[];
  /** Index of the first cell that is missing; null where none is. */
  next: number | null;
  /** Stands for the ids of all cells, in their order. */
  order: string;
}

/** Cells from this index on. Outputs are shortened, except for those of the cells `inFull`. */
export function readPart(model: ISharedNotebook, from: number, inFull: ReadonlySet<string>): NotebookPart {
  const order = cellHash(model.cells.map(cell => cell.getId()).join(' '));
  const budget = { chars: READ_LIMITS.totalChars };
  const cells: Record<string, unknown>[] = [];
  let bytes = 0;
  for (let index = from; index < model.cells.length; index++) {
    const cell = model.cells[index];
    const shown = show(cell, inFull.has(cell.getId()), budget);
    const needed = jsonBytes(shown);
    if (needed > MAX_ANSWER_BYTES) {
      throw new ActionError('too_large', `Cell ${index + 1} (${cell.getId()}) is too large to be read.`);
    }
    bytes += needed;
    if (bytes > MAX_ANSWER_BYTES) {
      return { cells, next: index, order };
    }
    cells.push(shown);
  }
  return { cells, next: null, order };
}

function show(cell: ISharedCell, inFull: boolean, budget: { chars: number }): Record<string, unknown> {
  const common = {
    id: cell.getId(),
    cellType: cell.cell_type,
    source: wellFormed(cell.getSource()),
    metadata: cell.getMetadata()
  };
  if (!isCode(cell)) {
    return common;
  }
  const outputs = cell.getOutputs();
  const { execution_count: executionCount } = cell;
  if (!inFull) {
    return { ...common, executionCount, outputs: limitOutputs(outputs, READ_LIMITS, budget) };
  }
  const full: OutputBudget = { chars: 0 };
  const shown = fullOutputs(outputs, MAX_ANSWER_BYTES / 2, full);
  return { ...common, executionCount, outputs: shown, outputsShortened: full.hasShortened ?? false };
}
