/** What a result says of a notebook, read from data that anything may have written. */
export interface ResultData {
  /** Its path, where the result is about one. */
  notebook: string;
  /** How many cells it has. */
  total?: number;
  /** Those that the result names by their place, from 1: shown or run. */
  cells: { number: number; id: string }[];
  inserted?: { id: string; at: string; after?: string };
  /** Cells may have changed places. */
  moved: boolean;
}

/** Null where the result is about no notebook. */
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

/** More than that has no notebook. */
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
