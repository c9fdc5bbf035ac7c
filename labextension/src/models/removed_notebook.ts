/** Whether an open notebook whose file was taken away holds nothing that would be lost with it. It closes none. */
import type { ISharedNotebook } from '@jupyter/ydoc';

import { cellHash } from './cell_hash';

/** `known` are the cells, by id, that went with the file, and the hash of each; without it, nothing is known. */
export function holdsOnly(
  model: ISharedNotebook,
  known: Readonly<Record<string, string>> | undefined
): boolean {
  return known !== undefined && model.cells.every(cell => known[cell.getId()] === cellHash(cell.getSource()));
}
