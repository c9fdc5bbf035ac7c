/** Words about changed cells and the outcome of reverting them. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { LeftAlone, NotebookReverted, TurnInfo } from '../../protocol/wire';
import type { ShownMark } from './shown_marks';

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** What the agent did to the cell, in the fewest words; `from` is the previous place of a moved one. */
export function formatMark(shown: ShownMark, from: string, trans: TranslationBundle): string[] {
  const words = {
    added: [trans.__('new cell')],
    deleted: [trans.__('removed a cell')],
    edited: [trans._n('%1 line changed', '%1 lines changed', shown.lines)],
    moved: [] as string[]
  }[shown.kind];
  if (shown.isMoved && shown.kind !== 'deleted' && shown.kind !== 'added') {
    words.push(trans.__('moved from %1', from));
  }
  if (shown.isYours) {
    words.push(trans.__('changed by you since'));
  }
  return words;
}

/** Why a mark cannot be reverted, or null if it can. */
export function lockedReason(shown: ShownMark, trans: TranslationBundle): string | null {
  if (shown.mark.working) {
    return trans.__('Onyx is still working on this turn. Stop it, or wait until it ends.');
  }
  return shown.isYours
    ? trans.__('You changed this cell since, so Onyx leaves it alone. Open the diff to see how it was.')
    : null;
}

/** What a turn did to notebooks: `3 cells changed`. */
export function formatTurn(turn: TurnInfo, trans: TranslationBundle): string {
  if (turn.cells > 0) {
    return trans._n('%1 cell changed', '%1 cells changed', turn.cells);
  }
  return turn.created.length > 0
    ? trans.__('%1 made', turn.created.map(nameOf).join(', '))
    : trans._n('%1 cell run', '%1 cells run', turn.ran);
}

/** What a revert did not do, one sentence per reason; empty if it did everything. */
export function formatSkipped(outcome: NotebookReverted, trans: TranslationBundle): string[] {
  const reasons = new Map<string, LeftAlone[]>();
  for (const left of outcome.leftAlone) {
    const key = left.cellId ? left.reason : `${left.path}: ${left.message ?? left.reason}`;
    reasons.set(key, [...(reasons.get(key) ?? []), left]);
  }
  return [...reasons].map(([reason, left]) =>
    left[0].cellId ? formatSkippedCells(reason, left.length, trans) : reason
  );
}

/** Which notebooks a revert removed or recreated. */
export function formatNotebooks(outcome: NotebookReverted, trans: TranslationBundle): string[] {
  const names = (paths: readonly string[]) => paths.map(nameOf).join(', ');
  return [
    ...(outcome.removed.length > 0 ? [trans.__('%1 was removed.', names(outcome.removed))] : []),
    ...(outcome.made.length > 0 ? [trans.__('%1 was restored.', names(outcome.made))] : [])
  ];
}

function formatSkippedCells(reason: string, count: number, trans: TranslationBundle): string {
  switch (reason) {
    case 'changed':
      return trans._n(
        '%1 cell was left as it is: you changed it since.',
        '%1 cells were left as they are: you changed them since.',
        count
      );
    case 'changed_later':
      return trans._n(
        '%1 cell was left as it is: a later turn changed it.',
        '%1 cells were left as they are: a later turn changed them.',
        count
      );
    case 'deleted':
      return trans._n(
        '%1 cell was not put back: you deleted it.',
        '%1 cells were not put back: you deleted them.',
        count
      );
    case 'moved':
      return trans._n(
        '%1 cell was left in its place: you moved it since.',
        '%1 cells were left in their places: you moved them since.',
        count
      );
    case 'ran':
      return trans._n(
        '%1 cell keeps its outputs: it ran since.',
        '%1 cells keep their outputs: they ran since.',
        count
      );
    case 'running':
      return trans._n(
        '%1 cell was left as it is: it runs now. Stop it, or wait for its end, and try again.',
        '%1 cells were left as they are: they run now. Stop them, or wait for their end, and try again.',
        count
      );
    case 'not_found':
      return trans._n(
        '%1 cell was left as it is: the undo had changed nothing in it.',
        '%1 cells were left as they are: the undo had changed nothing in them.',
        count
      );
    default:
      return trans._n(
        'The previous outputs of %1 cell were too large to keep.',
        'The previous outputs of %1 cells were too large to keep.',
        count
      );
  }
}
