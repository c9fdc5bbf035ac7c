/** A conversation as Markdown, to paste somewhere else. */
import { isRun } from './conversation';
import type { Conversation, Part } from './conversation';

export function asMarkdown(items: Conversation): string {
  return items
    .map(item =>
      isRun(item) ? `**Onyx**\n\n${item.parts.map(part).join('\n\n')}` : `**You**\n\n${item.text}`
    )
    .join('\n\n');
}

function part(one: Part): string {
  return one.kind === 'text' ? one.text : `*${one.call.tool}: ${one.call.status}*`;
}
