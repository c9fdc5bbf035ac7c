/** Whether closing an open notebook whose file was removed would lose nothing. */
import type { ISharedNotebook } from '@jupyter/ydoc';
import type { Kernel, Session } from '@jupyterlab/services';

import { cellHash } from './cell_hash';

/**
 * `known` maps the ids of the cells removed with the file to their hashes; without it, nothing is known. What
 * a busy kernel computes would be lost, too.
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

/** Whether no other notebook or console uses that session's kernel. */
export function hasOwnKernel(
  session: Pick<Session.IModel, 'id' | 'kernel'>,
  running: Iterable<Pick<Session.IModel, 'id' | 'kernel'>>
): boolean {
  return [...running].every(({ id, kernel }) => id === session.id || kernel?.id !== session.kernel?.id);
}
