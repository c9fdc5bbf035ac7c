/** Parses what a result says about a notebook; the data may have any shape. */
export interface ResultData {
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

/** Null if the result is not about a notebook. */
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
