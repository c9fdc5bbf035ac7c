/** A cell's content in nbformat's terms: completed, written to a shared cell, and cut to fit one frame. */
import type { ISharedCell, ISharedCodeCell, ISharedMarkdownCell, ISharedRawCell } from '@jupyter/ydoc';
import type { IAttachments, IOutput } from '@jupyterlab/nbformat';
import { JSONExt } from '@lumino/coreutils';
import type { PartialJSONObject } from '@lumino/coreutils';

import { countChars, jsonBytes } from '../../protocol/frame_size';
import { textPatch } from './text_patch';

/** A whole cell as defined by nbformat 4.5. */
export interface NbCell {
  id: string;
  cell_type: 'code' | 'markdown' | 'raw';
  source: string;
  metadata?: unknown;
  outputs?: unknown;
  execution_count?: unknown;
  attachments?: unknown;
}

export function isCode(cell: ISharedCell): cell is ISharedCodeCell {
  return cell.cell_type === 'code';
}

/** With everything its type requires, and nothing that belongs to another type; texts as one string each. */
export function wholeCell({ id, cell_type, source, metadata, ...rest }: NbCell): NbCell {
  const common = { id, cell_type, source: joined(source), metadata: metadata ?? {} };
  if (cell_type === 'code') {
    const outputs = (rest.outputs ?? []) as IOutput[];
    return { ...common, outputs: outputs.map(oneText), execution_count: rest.execution_count ?? null };
  }
  return rest.attachments ? { ...common, attachments: rest.attachments } : common;
}

export function cellOf(shared: ISharedCell): NbCell {
  return wholeCell(shared.toJSON() as unknown as NbCell);
}

/**
 * The cell for one frame, and whether its outputs or attachments exceeded what is left of `budget`: then
 * those keys are missing.
 */
export function withoutLargeOutputs(cell: NbCell, budget: { bytes: number }): [NbCell, boolean] {
  const { outputs, attachments, execution_count, ...rest } = cell;
  const shown = [outputs, attachments];
  const needed = countChars(shown, budget.bytes) > budget.bytes ? Infinity : jsonBytes(shown);
  if (needed > budget.bytes) {
    return [rest, true];
  }
  budget.bytes -= needed;
  return [cell, false];
}

/** Replaces only what differs, so that the caret of anyone typing elsewhere in the cell stays in place. */
export function patchSource(shared: ISharedCell, source: string): void {
  const patch = textPatch(shared.getSource(), source);
  if (patch) {
    shared.updateSource(patch.start, patch.end, patch.text);
  }
}

/** Gives a shared cell this content, changing only what differs. */
export function restoreCell(shared: ISharedCell, cell: NbCell): void {
  patchSource(shared, cell.source);
  patchMetadata(shared, (cell.metadata ?? {}) as PartialJSONObject);
  if (isCode(shared)) {
    const outputs = cell.outputs as IOutput[];
    if (!JSONExt.deepEqual(shared.getOutputs().map(oneText), outputs)) {
      shared.setOutputs(outputs);
    }
    shared.execution_count = cell.execution_count as number | null;
    return;
  }
  const attached = shared as ISharedMarkdownCell | ISharedRawCell;
  if (
    !JSONExt.deepEqual(attached.getAttachments() ?? null, (cell.attachments ?? null) as IAttachments | null)
  ) {
    attached.setAttachments(cell.attachments as IAttachments | undefined);
  }
}

function patchMetadata(shared: ISharedCell, metadata: PartialJSONObject): void {
  const now = shared.getMetadata() as PartialJSONObject;
  for (const key of Object.keys(now)) {
    if (!(key in metadata)) {
      shared.deleteMetadata(key);
    }
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (value !== undefined && !JSONExt.deepEqual(now[key] ?? null, value)) {
      shared.setMetadata(key, value);
    }
  }
}

/** A stream's text may come as lines; the shared model would join them with commas. */
function oneText(output: IOutput): IOutput {
  return Array.isArray(output.text) ? { ...output, text: joined(output.text as string[]) } : output;
}

function joined(text: string | string[]): string {
  return Array.isArray(text) ? text.join('') : text;
}
