/**
 * A batch of changes to the cells of a shared notebook: checked in order, then made in one transaction and
 * one undo step, or not at all. Changes to outputs alone are not an undo step.
 */
import type { ISharedCell, ISharedNotebook, SharedCell, YNotebook } from '@jupyter/ydoc';

import { withoutLargeOutputs, cellOf, patchSource, restoreCell, wholeCell } from './cell_content';
import type { NbCell } from './cell_content';
import { cellHash } from './cell_hash';
import { MAX_ANSWER_BYTES, jsonBytes } from '../../protocol/frame_size';
import { ActionError } from './notebook_bridge';

const MINOR_WITH_IDS = 5;

export type Place = 'start' | 'end' | { after: string };

export type CellChange =
  | { kind: 'insert'; cell: NbCell; place: Place }
  | { kind: 'edit'; cellId: string; source: string; baseHash: string | null; evenLocked?: boolean }
  | { kind: 'delete'; cellId: string; baseHash: string | null; evenLocked?: boolean }
  | { kind: 'move'; cellId: string; place: Place; baseHash: string | null }
  | { kind: 'restore'; cell: NbCell; baseHash: string | null }
  | { kind: 'outputs'; cellId: string; outputs: unknown[]; executionCount: number | null };

/** The effect of a change: the cell as it was (without what is too large to be sent), and its place. */
interface AppliedChange extends Record<string, unknown> {
  cellId: string;
  before: NbCell | null;
  beforePlace: Place | null;
  outputsLeftOut: boolean;
}

/**
 * How one change is carried out: indices at the time of its turn; null if the cell was not, or will not be,
 * there.
 */
interface Step {
  kind: CellChange['kind'];
  takenFrom: number | null;
  putAt: number | null;
  cell: NbCell | null;
  applied: AppliedChange;
}

/**
 * Throws an ActionError (no_cell, stale, cell_exists, locked, would_empty, running), and then nothing has
 * changed. Cells that are `running` cannot be moved: a moved cell is redrawn, and only the first rendering
 * receives a run's output.
 */
export function applyChanges(
  model: ISharedNotebook,
  changes: readonly CellChange[],
  running: ReadonlySet<string> = new Set()
): AppliedChange[] {
  const planning = new Planning(model.cells, running);
  const steps = changes.map(change => planning.step(change));
  if (model.cells.length > 0 && planning.order.length === 0) {
    throw new ActionError('would_empty', 'The change would remove all cells of the notebook.');
  }
  const applied = steps.map(step => step.applied);
  if (jsonBytes(applied) > MAX_ANSWER_BYTES) {
    throw new ActionError('too_large', 'These are too many changes at once. Make them in smaller steps.');
  }
  const change = () => {
    applySteps(model, steps);
    if (model.nbformat === 4 && model.nbformat_minor < MINOR_WITH_IDS) {
      (model as YNotebook).nbformat_minor = MINOR_WITH_IDS; // otherwise saving drops the cell ids
    }
  };
  if (areOutputs(changes)) {
    model.transact(change, false); // as in JupyterLab, outputs stay out of the user's undo history
    return applied;
  }
  const { undoManager } = model as YNotebook;
  undoManager.stopCapturing();
  model.transact(change);
  undoManager.stopCapturing();
  return applied;
}

/** Whether they change only outputs. */
export function areOutputs(changes: readonly CellChange[]): boolean {
  return changes.every(({ kind }) => kind === 'outputs');
}

/** The notebook as it would be after the changes so far. */
class Planning {
  readonly order: string[];

  constructor(
    cells: readonly ISharedCell[],
    private readonly _running: ReadonlySet<string>
  ) {
    this.order = cells.map(cell => cell.getId());
    this._cells = new Map(cells.map(cell => [cell.getId(), cell] as const));
  }

  step(change: CellChange): Step {
    switch (change.kind) {
      case 'insert':
        return this._insert(change.cell, change.place);
      case 'move':
        return this._move(change.cellId, change.place, change.baseHash);
      case 'edit':
        return this._replace(change, change.cellId, cell => {
          checkUnlocked(cell, 'editable', change.evenLocked);
          return { ...cell, source: change.source };
        });
      case 'restore':
        return this._replace(change, change.cell.id, cell => wholeCell({ ...cell, ...change.cell }));
      case 'outputs':
        return this._replace(change, change.cellId, cell => withOutputs(cell, change));
      case 'delete':
        return this._replace(change, change.cellId, cell => {
          checkUnlocked(cell, 'deletable', change.evenLocked);
          return null;
        });
      default:
        throw new ActionError(
          'bad_request',
          'This version of the Onyx extension does not know this kind of change.'
        );
    }
  }

  private _insert(given: NbCell, place: Place): Step {
    if (this.order.includes(given.id)) {
      throw new ActionError('cell_exists', `The notebook already has a cell ${given.id}.`);
    }
    const putAt = this._indexOf(place);
    const cell = wholeCell(given);
    if (cell.cell_type === 'code' && !(cell.outputs as unknown[]).length) {
      cell.metadata = { ...(cell.metadata as object), trusted: true };
    }
    this._insertCell(putAt, cell);
    const applied = { cellId: cell.id, before: null, beforePlace: null, outputsLeftOut: false };
    return { kind: 'insert', takenFrom: null, putAt, cell, applied };
  }

  private _move(cellId: string, place: Place, baseHash: string | null = null): Step {
    const [takenFrom, cell] = this._find(cellId);
    checkBase(cell, baseHash);
    this._refuseRunning(cellId);
    const applied = this._applied(takenFrom, cell);
    this.order.splice(takenFrom, 1);
    const putAt = this._indexOf(place);
    this._insertCell(putAt, cell);
    return { kind: 'move', takenFrom, putAt, cell, applied };
  }

  private _replace(
    { kind, baseHash = null }: { kind: CellChange['kind']; baseHash?: string | null },
    cellId: string,
    convert: (cell: NbCell) => NbCell | null
  ): Step {
    const [at, before] = this._find(cellId);
    checkBase(before, baseHash);
    const applied = this._applied(at, before);
    const cell = convert(before);
    if (cell?.cell_type !== before.cell_type) {
      this._refuseRunning(cellId);
    }
    this.order.splice(at, 1);
    if (cell) {
      this._insertCell(at, cell);
    }
    return { kind, takenFrom: at, putAt: cell && at, cell, applied };
  }

  private _refuseRunning(cellId: string): void {
    if (this._running.has(cellId)) {
      throw new ActionError(
        'running',
        `Cell ${cellId} is running and would lose its output, so nothing was changed. Try again when it has finished, or ask the user to stop it.`
      );
    }
  }

  private _find(cellId: string): [number, NbCell] {
    const at = this._indexOf({ after: cellId }) - 1;
    const cell = this._changed.get(cellId) ?? cellOf(this._cells.get(cellId) as ISharedCell);
    return [at, cell];
  }

  private _indexOf(place: Place): number {
    if (typeof place === 'string') {
      return place === 'start' ? 0 : this.order.length;
    }
    const index = this.order.indexOf(place.after);
    if (index < 0) {
      throw new ActionError('no_cell', `The notebook has no cell ${place.after}.`);
    }
    return index + 1;
  }

  private _insertCell(index: number, cell: NbCell): void {
    this.order.splice(index, 0, cell.id);
    this._changed.set(cell.id, cell);
  }

  private _applied(at: number, cell: NbCell): AppliedChange {
    const [before, outputsLeftOut] = withoutLargeOutputs(cell, this._budget);
    const beforePlace = at > 0 ? { after: this.order[at - 1] } : 'start';
    return { cellId: cell.id, before, beforePlace, outputsLeftOut };
  }

  private readonly _cells: ReadonlyMap<string, ISharedCell>;
  private readonly _changed = new Map<string, NbCell>();
  private readonly _budget = { bytes: 1_500_000 };
}

export function checkBase(cell: NbCell, baseHash: string | null): void {
  if (baseHash !== null && cellHash(cell.source) !== baseHash) {
    const now = { cellId: cell.id, source: cell.source };
    throw new ActionError('stale', 'The cell was changed in the meantime.', now);
  }
}

function checkUnlocked(cell: NbCell, key: 'editable' | 'deletable', evenLocked = false): void {
  if (!evenLocked && (cell.metadata as Record<string, unknown>)[key] === false) {
    throw new ActionError(
      'locked',
      `Cell ${cell.id} is locked: its metadata says \`${key}: false\`, so it was not ${key === 'editable' ? 'edited' : 'deleted'}. Leave it as it is and work in other cells, or ask the user to unlock it.`
    );
  }
}

function withOutputs(
  cell: NbCell,
  { outputs, executionCount }: { outputs: unknown[]; executionCount: number | null }
): NbCell {
  if (cell.cell_type !== 'code') {
    throw new ActionError('not_code', `Cell ${cell.id} is no longer a code cell.`);
  }
  const metadata = { ...(cell.metadata as object), trusted: true };
  return wholeCell({ ...cell, metadata, outputs, execution_count: executionCount });
}

/** Within a transaction the model's own list of cells doesn't update, so a separate list is kept. */
function applySteps(model: ISharedNotebook, steps: readonly Step[]): void {
  const cells = [...model.cells];
  for (const { kind, takenFrom, putAt, cell } of steps) {
    const shared = takenFrom === null ? null : cells[takenFrom];
    if (shared && cell && kind === 'edit') {
      patchSource(shared, cell.source);
      continue;
    }
    if (shared && cell && (kind === 'restore' || kind === 'outputs') && shared.cell_type === cell.cell_type) {
      restoreCell(shared, cell);
      continue;
    }
    if (takenFrom !== null) {
      model.deleteCell(takenFrom);
      cells.splice(takenFrom, 1);
    }
    if (putAt !== null && cell) {
      cells.splice(putAt, 0, model.insertCell(putAt, cell as unknown as SharedCell.Cell));
    }
  }
}
