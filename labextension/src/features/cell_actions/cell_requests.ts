/** What a click on a cell or an error asks for, and in which mode. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ContextItem } from '../../protocol/wire';
import type { Mode } from '../composer/mode';

export type CellAction = 'explain' | 'explain-output' | 'fix' | 'improve';

/** The message, which has the cell or the error attached. */
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
 * The mode of a one-click message. Explaining only needs reading; but the strictest message of a run limits
 * all of it, so during a run it uses the chosen mode. Fixing and improving need changes.
 */
export function cellRequestMode(action: CellAction, chosen: Mode, isRunning: boolean): Mode {
  if (action === 'explain' || action === 'explain-output') {
    return isRunning ? chosen : 'ask';
  }
  return chosen === 'ask' ? 'agent' : chosen;
}
