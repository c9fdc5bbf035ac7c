/** Marks as a notebook shows them now: their places, and how they compare with the cells' current text. */
import type { CellMark } from '../../protocol/wire';
import { lineDiff } from '../../shared/line_diff';

export type MarkKind = 'added' | 'edited' | 'deleted' | 'moved';

/** A cell's current state in the notebook. */
export interface CellNow {
  readonly id: string;
  readonly cellType: string;
  readonly source: string;
}

export interface ShownMark {
  readonly mark: CellMark;
  readonly kind: MarkKind;
  /** The number of changed lines; 0 if the text did not change. */
  readonly lines: number;
  /** Whether it was moved, in addition or only. */
  readonly isMoved: boolean;
  /** The user has changed the cell since, so it cannot be reverted. */
  readonly isYours: boolean;
  /** For a deleted or moved cell: the cell that it was below; null at the start of the notebook. */
  readonly under: string | null;
}

/** The marks worth showing, from the top of the notebook to its end. */
export function shownMarks(marks: readonly CellMark[], cells: readonly CellNow[]): ShownMark[] {
  const places = new Map(cells.map((cell, index) => [cell.id, index] as const));
  const shown = marks.flatMap(mark => {
    const place = places.get(mark.cellId);
    const one = shownMark(mark, place === undefined ? null : cells[place], places);
    return one ? [one] : [];
  });
  const order = new Map(shown.map(one => [one, position(one, places)] as const));
  return shown.sort((a, b) => {
    const [first, second] = [order.get(a) ?? 0, order.get(b) ?? 0];
    if (first !== second) {
      return first - second;
    }
    return b.mark.above?.includes(a.mark.cellId) ? -1 : a.mark.above?.includes(b.mark.cellId) ? 1 : 0;
  });
}

/** How many lines were inserted, removed or changed; a line changed in place counts once. */
export function changedLines(before: string, after: string): number {
  const lines = lineDiff(before, after);
  let count = 0;
  for (let start = 0; start < lines.length; start += 1) {
    let removed = 0;
    let added = 0;
    while (start < lines.length && lines[start].kind !== 'same') {
      removed += lines[start].kind === 'removed' ? 1 : 0;
      added += lines[start].kind === 'added' ? 1 : 0;
      start += 1;
    }
    count += Math.max(removed, added);
  }
  return count;
}

function shownMark(
  mark: CellMark,
  cell: CellNow | null,
  places: ReadonlyMap<string, number>
): ShownMark | null {
  const under = mark.above?.find(id => places.has(id)) ?? null;
  const base = { mark, lines: 0, isMoved: mark.kinds.includes('moved'), isYours: false, under };
  if (mark.kinds.includes('deleted')) {
    return cell ? null : { ...base, kind: 'deleted' };
  }
  if (!cell) {
    return null;
  }
  const isAsLeft = !mark.after || isText(cell, mark.after);
  if (mark.kinds.includes('added')) {
    return { ...base, kind: 'added', isYours: !isAsLeft };
  }
  if (mark.kinds.includes('edited') && mark.before && !isText(cell, mark.before)) {
    const lines = changedLines(mark.before.source, cell.source);
    return { ...base, kind: 'edited', lines, isYours: !isAsLeft };
  }
  return base.isMoved ? { ...base, kind: 'moved' } : null;
}

function isText(cell: CellNow, text: { source: string; cellType: string }): boolean {
  return cell.source === text.source && cell.cellType === text.cellType;
}

/** Deleted cells come right after the one that they were below. */
function position(shown: ShownMark, places: ReadonlyMap<string, number>): number {
  if (shown.kind !== 'deleted') {
    return places.get(shown.mark.cellId) ?? 0;
  }
  return shown.under === null ? -0.5 : (places.get(shown.under) ?? 0) + 0.5;
}
