/** Makes links of the lines of memory that a drawn text names. It changes nothing else in the text. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { citedParts, hasCitation } from '../models/citations';
import type { Citation } from '../models/citations';

/** What stands in a link or in a block of code already is left as it is. */
export function linkCitations(
  root: HTMLElement,
  open: (citation: Citation) => void,
  trans: TranslationBundle
): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    if (!text.parentElement?.closest('a, pre, button') && hasCitation(text.data)) {
      texts.push(text);
    }
  }
  for (const text of texts) {
    const parts = citedParts(text.data).map(part =>
      typeof part === 'string' ? part : link(part.words, () => open(part.citation), trans)
    );
    text.replaceWith(...parts);
  }
}

/** A link and no button: it breaks over lines with the words around it. */
function link(words: string, open: () => void, trans: TranslationBundle): HTMLElement {
  const node = document.createElement('a');
  node.href = '#';
  node.className = 'onyx-Citation';
  node.dataset.onyx = 'memory-citation';
  node.title = trans.__('Open in memory');
  node.textContent = words;
  node.addEventListener('click', event => {
    event.preventDefault();
    event.stopPropagation();
    open();
  });
  return node;
}
