/** A conversation as Markdown, to paste elsewhere. */
import { isRun } from '../chat/conversation';
import type { Conversation, Part } from '../chat/conversation';

export function asMarkdown(items: Conversation): string {
  return items
    .map(item =>
      isRun(item) ? `**Onyx**\n\n${item.parts.flatMap(part).join('\n\n')}` : `**You**\n\n${item.text}`
    )
    .join('\n\n');
}

/** Thoughts are not part of what was said. */
function part(one: Part): string | string[] {
  switch (one.kind) {
    case 'thought':
      return [];
    case 'text':
      return one.text;
    case 'tool':
      return `*${one.call.tool}: ${one.call.status}*`;
    case 'note':
      return `*${one.note.message}*`;
    case 'said':
      return `**You**\n\n${one.message.text}\n\n**Onyx**`;
  }
}
