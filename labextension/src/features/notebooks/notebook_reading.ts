/** What the server is sent about an open notebook: its cells, in as many parts as frames require. */
import type { ISharedCell, ISharedNotebook } from '@jupyter/ydoc';

import { isCode } from './cell_content';
import { cellHash } from './cell_hash';
import { MAX_ANSWER_BYTES, jsonBytes, wellFormed } from '../../protocol/frame_size';
import { ActionError } from './notebook_bridge';
import { READ_LIMITS, fullOutputs, limitOutputs } from './output_limits';
import type { OutputBudget } from './output_limits';

/** JSON may write a character as \uXXXX. */
const MAX_BYTES_A_CHAR = 6;
/** A number, with brackets and commas around it and the id. */
const SIZE_BYTES = 32;

export interface NotebookPart extends Record<string, unknown> {
  cells: Record<string, unknown>[];
  /**
   * If only some were requested: id and source length of all cells of this part. A blank source counts as 0.
   */
  sizes?: [string, number][];
  /** Index of the first missing cell; null if none is. */
  next: number | null;
  /** Identifies the ids of all cells and their order. */
  order: string;
}

/** Which cells are requested: those in `only`, and the `last` ones at the end. */
interface Wanted {
  only: ReadonlySet<string>;
  last: number;
}

/** Cells from this index on. Outputs are shortened, except for the cells in `inFull`. */
export function readPart(
  model: ISharedNotebook,
  from: number,
  inFull: ReadonlySet<string>,
  wanted: Wanted | null = null
): NotebookPart {
  const all = model.cells;
  const order = cellHash(all.map(cell => cell.getId()).join(' '));
  const budget = { chars: READ_LIMITS.totalChars };
  const cells: Record<string, unknown>[] = [];
  const sizes: [string, number][] = [];
  const part = (next: number | null) => ({ cells, next, order, ...(wanted ? { sizes } : {}) });
  let bytes = 0;
  for (let index = from; index < all.length; index++) {
    const cell = all[index];
    const id = cell.getId();
    const isWanted = !wanted || wanted.only.has(id) || index >= all.length - wanted.last;
    const shown = isWanted ? show(cell, inFull.has(id), budget) : null;
    const needed = (shown ? jsonBytes(shown) : 0) + (wanted ? MAX_BYTES_A_CHAR * id.length + SIZE_BYTES : 0);
    if (needed > MAX_ANSWER_BYTES) {
      throw new ActionError('too_large', `Cell ${index + 1} (${id}) is too large to be read.`);
    }
    bytes += needed;
    if (bytes > MAX_ANSWER_BYTES) {
      return part(index);
    }
    if (shown) {
      cells.push(shown);
    }
    if (wanted) {
      sizes.push([id, sizeOf(cell)]);
    }
  }
  return part(null);
}

/** Code points, as the server counts them: a lone surrogate counts as one, too. */
function sizeOf(cell: ISharedCell): number {
  const source = cell.getSource();
  const pairs = source.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
  return source.trim() ? source.length - pairs : 0;
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
