/** What one click on a cell or an error asks for, and how much Onyx may do for it. It sends nothing. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ContextItem } from '../../protocol/wire';
import type { Mode } from '../composer/mode';

export type CellAction = 'explain' | 'explain-output' | 'fix' | 'improve';

/** What is said, with the cell or the error beside it. */
export function cellRequest(action: CellAction, item: ContextItem, trans: TranslationBundle): string {
  const cell = item.label || trans.__('this cell');
  switch (action) {
    case 'explain':
      return item.type === 'error'
        ? trans.__('Explain the error in %1.', cell)
        : trans.__('Explain %1.', cell);
    case 'explain-output':
      return item.type === 'error'
        ? trans.__('Explain the error in %1.', cell)
        : trans.__('Explain what %1 shows.', cell);
    case 'fix':
      return trans.__('Fix the error in %1.', cell);
    case 'improve':
      return trans.__(
        'Improve %1: clearer, and faster where it matters. It has to do the same as before.',
        cell
      );
  }
}

/**
 * The mode that one click is sent in. To explain takes reading alone; but the strictest message of a run counts for all
 * of it, so during a run it goes with the mode that is chosen. To fix and to improve takes changing.
 */
export function cellRequestMode(action: CellAction, chosen: Mode, isRunning: boolean): Mode {
  if (action === 'explain' || action === 'explain-output') {
    return isRunning ? chosen : 'ask';
  }
  return chosen === 'ask' ? 'agent' : chosen;
}
