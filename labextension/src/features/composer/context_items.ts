/** The items sent along with a message: their names, their identity, and what to request for them. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ContextItem, SentItem } from '../../protocol/wire';
import { fileName } from '../../shared/short_text';

/** An item in a conversation: once the server has it, with the text and tokens that the model got. */
export type ContextOf = ContextItem & Partial<Pick<SentItem, 'tokens' | 'problem'>>;

/** The longest selection that the server accepts. */
export const MAX_SELECTION_CHARS = 100_000;

/**
 * The same key for the same thing, whatever its current text; two selections in one place are different
 * things.
 */
export function itemKey(item: ContextItem): string {
  const { type, path, cellId, name, startLine, endLine, text } = item;
  const parts = [type, path, type === 'notebook' ? null : cellId, name];
  const lines = type === 'memory' ? [startLine, endLine] : [];
  return JSON.stringify(type === 'selection' ? [...parts, startLine, endLine, text] : [...parts, ...lines]);
}

/** The shortest name: for a chip, or below a message. */
export function itemName(item: ContextItem, trans: TranslationBundle): string {
  const cell = item.label || trans.__('cell');
  switch (item.type) {
    case 'cell':
      return cell;
    case 'error':
      return trans.__('Error in %1', cell);
    case 'variable':
      return item.name ?? '';
    case 'selection':
      return item.cellId
        ? trans.__('Selection in %1', cell)
        : [fileName(item.path), lineRange(item)].filter(Boolean).join(':');
    case 'memory':
      return [fileName(item.path), lineRange(item)].filter(Boolean).join(':');
    case 'file':
    case 'notebook':
      return fileName(item.path);
  }
}

/** All items in one line; recalled memories come after the word "memory". */
export function formatNames(items: readonly ContextItem[], trans: TranslationBundle): string {
  const sent = items.filter(item => item.type !== 'memory').map(item => itemName(item, trans));
  const recalled = items.filter(item => item.type === 'memory').map(item => itemName(item, trans));
  return [...sent, ...(recalled.length > 0 ? [trans.__('memory'), ...recalled] : [])].join(' · ');
}

/** Its full location. */
export function itemPlace(item: ContextItem, trans: TranslationBundle): string {
  const name = itemName(item, trans);
  const isPath = item.type === 'file' || item.type === 'notebook' || name.startsWith(fileName(item.path));
  const range = item.type === 'selection' || item.type === 'memory' ? lineRange(item) : '';
  const selected = range.includes('–') ? trans.__('lines %1', range) : range && trans.__('line %1', range);
  const parts = isPath ? [item.path] : [name, item.path];
  return [...parts, selected].filter(Boolean).join(' · ');
}

/**
 * What to request from the server: names, and the text of a selection. What an earlier message read is
 * dropped.
 */
export function asContextItem(item: ContextOf): ContextItem {
  const { type, path, cellId, name, startLine, endLine, label, text } = item;
  const wish = { type, path, cellId, name, startLine, endLine, label };
  return type === 'selection' ? { ...wish, text } : wish;
}

/** The requests for everything that the user attached: what Onyx recalled itself, it recalls again. */
export function asContextItems(items: readonly ContextOf[]): ContextItem[] {
  return items.filter(item => item.type !== 'memory').map(asContextItem);
}

/** The valid items of a stored value. */
export function asItems(value: unknown): ContextItem[] {
  const isItem = (item: unknown): item is ContextItem =>
    typeof item === 'object' && item !== null && 'type' in item && 'path' in item;
  return Array.isArray(value) ? asContextItems(value.filter(isItem)) : [];
}

export function formatTokens(tokens: number, trans: TranslationBundle): string {
  const about = tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k`;
  return trans._n('~1 token', '~%2 tokens', tokens, about);
}

/** The lines of a selection: 3 or 3–5; empty if unknown. */
function lineRange({ startLine, endLine }: ContextItem): string {
  if (!startLine) {
    return '';
  }
  return endLine && endLine !== startLine ? `${startLine}–${endLine}` : String(startLine);
}
