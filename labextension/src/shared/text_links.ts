/** Turns references to memory lines and cells in a drawn text into links. */
import { cellParts, hasCell } from './cell_references';
import { citedParts, hasCitation } from './citations';
import type { TargetNotebook } from '../features/chat/target_notebook';
import type { Ui } from './ui_context';

interface TextLink {
  words: string;
  hook: string;
  title: string;
  open: () => void;
}

type Links = (text: string) => readonly (string | TextLink)[];

/** Which notebook a text with these words refers to; null if unknown. */
export type NotebookOf = (words: string) => TargetNotebook | null;

/** Text inside links and code blocks is left as it is. `source` is the text that was drawn. */
export function linkNames(root: HTMLElement, source: string, ui: Ui, notebookOf?: NotebookOf): void {
  const notebook = ui.showCell && hasCell(source) ? notebookOf?.(source) : null;
  const wanted = [
    ...(ui.openMemory && hasCitation(source) ? [memoryLinks(ui)] : []),
    ...(notebook ? [cellLinks(ui, notebook)] : [])
  ];
  if (wanted.length > 0) {
    link(root, wanted);
  }
}

function link(root: HTMLElement, wanted: readonly Links[]): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    if (!text.parentElement?.closest('a, pre, button')) {
      texts.push(text);
    }
  }
  for (const text of texts) {
    let parts: readonly (string | TextLink)[] = [text.data];
    for (const links of wanted) {
      parts = parts.flatMap(part => (typeof part === 'string' ? links(part) : [part]));
    }
    if (parts.some(part => typeof part !== 'string')) {
      text.replaceWith(...parts.map(part => (typeof part === 'string' ? part : anchor(part))));
    }
  }
}

function memoryLinks({ trans, openMemory }: Ui): Links {
  const title = trans.__('Open in memory');
  return text =>
    citedParts(text).map(part =>
      typeof part === 'string'
        ? part
        : { words: part.words, hook: 'memory-citation', title, open: () => openMemory?.(part.citation) }
    );
}

/** To the exact cell if its id is known, else to the cell at its place by then. */
function cellLinks({ trans, showCell }: Ui, { path, cellIds }: TargetNotebook): Links {
  return text =>
    cellParts(text).map(part => {
      if (typeof part === 'string') {
        return part;
      }
      const { words, number } = part;
      const cellId = cellIds[number - 1];
      const title = cellId
        ? trans.__('Show it in %1', path)
        : trans.__('Show what is now cell %1 of %2', number, path);
      return { words, hook: 'cell-reference', title, open: () => showCell?.(path, cellId ?? number) };
    });
}

/** A link, not a button: it breaks over lines with the words around it. */
function anchor({ words, hook, title, open }: TextLink): HTMLElement {
  const node = document.createElement('a');
  node.href = '#';
  node.className = 'onyx-Citation';
  node.dataset.onyx = hook;
  node.title = title;
  node.textContent = words;
  node.addEventListener('click', event => {
    event.preventDefault();
    event.stopPropagation();
    open();
  });
  return node;
}
