/** The ids of a notebook's cells by place, as far as the run's tools have reported them. */

/** What a result says about a notebook. */
interface ResultData {
  /** Its path, if the result is about one. */
  notebook: string;
  /** How many cells it has. */
  total?: number;
  /** The cells that the result shows or ran, by number from 1. */
  cells: { number: number; id: string }[];
  inserted?: { id: string; at: string; after?: string };
  /** Cells may have moved. */
  moved: boolean;
}

/** Null if the result is not about a notebook; the data may have any shape. */
export function notebookData(data: Record<string, unknown> | undefined): ResultData | null {
  if (!data || typeof data.notebook !== 'string') {
    return null;
  }
  const { notebook, total, inserted } = data;
  return {
    notebook,
    total: isNumber(total) && total >= 0 ? total : undefined,
    cells: [...listOf(data.cells), ...listOf(data.ran)].filter(isPlaced),
    inserted: isInserted(inserted) ? inserted : undefined,
    moved: data.moved === true
  };
}

/** No notebook has more than that. */
const MOST_CELLS = 1_000_000;

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNumber(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) < MOST_CELLS;
}

function isPlaced(value: unknown): value is { number: number; id: string } {
  const { number, id } = (value ?? {}) as Record<string, unknown>;
  return isNumber(number) && number > 0 && typeof id === 'string';
}

function isInserted(value: unknown): value is NonNullable<ResultData['inserted']> {
  const { id, at } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && typeof at === 'string';
}

export class SeenCells {
  /** By place, from 0, with holes. */
  get ids(): readonly (string | undefined)[] {
    return this._ids;
  }

  setNumber(number: number, cellId: string): void {
    this._ids[number - 1] = cellId;
  }

  /** Applies what a finished call reported and moved. */
  follow({ total, cells, inserted, moved }: ResultData): void {
    if (total !== undefined && total !== this._ids.length) {
      this._ids = Array.from({ length: total }); // something else has changed it since
    }
    this._isWhole ||= total !== undefined;
    for (const { number, id } of cells) {
      this.setNumber(number, id);
    }
    if (inserted) {
      this._insert(inserted);
    }
    if (moved) {
      this._forget();
    }
  }

  private _insert({ id, at, after }: NonNullable<ResultData['inserted']>): void {
    if (at === 'end') {
      if (this._isWhole) {
        this._ids.push(id);
      }
      return; // it moves no other cell
    }
    const before = this._ids.indexOf(after);
    if (at === 'start' || before >= 0) {
      this._ids.splice(at === 'start' ? 0 : before + 1, 0, id);
    } else {
      this._forget();
    }
  }

  private _forget(): void {
    this._ids = [];
    this._isWhole = false;
  }

  private _ids: (string | undefined)[] = [];
  /** Whether there are no more cells than `_ids` has places for. */
  private _isWhole = false;
}
