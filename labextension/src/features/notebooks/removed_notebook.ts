/** Whether an open notebook whose file was taken away holds nothing that would be lost with it. It closes none. */
import type { ISharedNotebook } from '@jupyter/ydoc';
import type { Kernel, Session } from '@jupyterlab/services';

import { cellHash } from './cell_hash';

/**
 * `known` are the cells, by id, that went with the file, and the hash of each; without it, nothing is known. What a
 * busy kernel computes would be lost, too.
 */
export function holdsOnly(
  model: ISharedNotebook,
  known: Readonly<Record<string, string>> | undefined,
  status: Kernel.Status | undefined
): boolean {
  return (
    status !== 'busy' &&
    known !== undefined &&
    model.cells.every(cell => known[cell.getId()] === cellHash(cell.getSource()))
  );
}

/** Whether no other notebook or console has that session's kernel. */
export function hasOwnKernel(
  session: Pick<Session.IModel, 'id' | 'kernel'>,
  running: Iterable<Pick<Session.IModel, 'id' | 'kernel'>>
): boolean {
  return [...running].every(({ id, kernel }) => id === session.id || kernel?.id !== session.kernel?.id);
}
