/** The state of a document in words: in its row, in its detail, and why a file was not uploaded. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatRelative } from '../../shared/relative_time';
import type { Refused } from './uploads';
import type { KnowledgeItemInfo } from '../../protocol/wire';

const BYTES_A_MEGABYTE = 1_000_000;

export function isInProgress({ state }: KnowledgeItemInfo): boolean {
  return state === 'waiting' || state === 'reading';
}

/** At the right of its row: a word or two. */
export function shortState(item: KnowledgeItemInfo, trans: TranslationBundle): string {
  switch (item.state) {
    case 'waiting':
      return trans.__('waiting');
    case 'reading':
      return item.total > 1 ? trans.__('%1 of %2', item.done, item.total) : trans.__('reading');
    case 'failed':
      return trans.__('not read');
    case 'stopped':
      return trans.__('stopped');
    default:
      return item.problemCount > 0
        ? trans._n('1 problem', '%1 problems', item.problemCount)
        : trans._n('1 passage', '%1 passages', item.chunks);
  }
}

/** Below its name: what is wrong with all of it, else its source, or what its name doesn't say. */
export function origin(item: KnowledgeItemInfo, trans: TranslationBundle): string {
  const { kind, path, title, total } = item;
  const when = formatRelative(item.addedAt);
  if (item.state === 'failed' && item.problem) {
    return item.problem;
  }
  if (kind === 'upload') {
    return path === title ? trans.__('uploaded %1', when) : trans.__('%1, uploaded %2', path, when);
  }
  if (path === '.') {
    return trans.__('all of the file browser');
  }
  if (path !== title) {
    return path;
  }
  return total > 1 ? trans.__('%1 files', total) : trans.__('added %1', when);
}

/** Its progress in one line, with counts. */
export function standing(item: KnowledgeItemInfo, trans: TranslationBundle): string {
  const found = trans._n('1 passage can be found', '%1 passages can be found', item.chunks);
  switch (item.state) {
    case 'waiting':
      return trans.__('It will be read after the ones before it.');
    case 'reading':
      return item.total > 1
        ? trans.__('%1 of %2 files are read, and %3.', item.done, item.total, found)
        : trans.__('It is being read.');
    case 'stopped':
      return trans.__('Reading was stopped, and %1. Read again to go on.', found);
    case 'failed':
      return item.chunks > 0 ? trans.__('From the last reading, %1.', found) : '';
    default:
      return trans.__('%1, in every conversation.', found);
  }
}

export function refusal(refused: Refused, trans: TranslationBundle): string {
  if (refused === 'folder') {
    return trans.__('A folder can’t be uploaded here. Put it into the file browser and add it there.');
  }
  if (refused === 'lost') {
    return trans.__('The connection was lost. Add it again when it is back.');
  }
  if ('maxBytes' in refused) {
    return trans.__(
      'It is larger than %1 MB. Put it into the file browser and add it there.',
      Math.floor(refused.maxBytes / BYTES_A_MEGABYTE)
    );
  }
  return refused.reason;
}
