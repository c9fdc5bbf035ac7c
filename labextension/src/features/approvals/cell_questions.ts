/**
 * Whether the cell that a run is writing will need approval, as far as the page can know before the call
 * arrives.
 */
import { isRequestOf, callsOf, isRun } from '../chat/conversation';
import type { Conversation, Run } from '../chat/conversation';
import { STANDARD_MODE } from '../composer/mode';

const INSERT = 'notebook_insert_cell';
const EDIT = 'notebook_edit_cell';
const WRITES = [INSERT, EDIT, 'notebook_create'];

/**
 * False in Ask mode, which runs no cells, and in Auto mode or after "this session", which run them at once.
 */
export function asksAboutCells(items: Conversation, run: Run): boolean {
  const asked = items.find(item => isRequestOf(item, run.runId));
  if (asked?.kind === 'user' && (asked.mode ?? STANDARD_MODE) !== STANDARD_MODE) {
    return false;
  }
  const next = callsOf(run).some(call => WRITES.includes(call.tool)) ? EDIT : INSERT;
  return !items
    .filter(isRun)
    .flatMap(callsOf)
    .some(call => call.tool === next && call.decision?.scope === 'session');
}
