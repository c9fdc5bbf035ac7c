/** Draws Markdown into elements: what the allow-list permits, with formulas, code and diagrams in place. */
import { allowedContent } from './allow_list';
import type { Diagrams } from './diagrams';
import { partsOf, slottedHtml } from './slotted_html';
import type { Slot } from './slotted_html';
import { isPlainTex } from './tex_allow_list';

/**
 * Draws code, formulas and diagrams. Each function gets text, and puts elements that it creates into a host.
 */
export interface Drawing {
  /** Absent if the page has no editor languages. */
  highlight?: (code: string, language: string, host: HTMLElement) => Promise<void>;
  /** Typesets the formula that is the host's text; the host must be attached to the page. */
  typeset?: (host: HTMLElement) => Promise<void>;
  diagrams: Diagrams;
}

interface DrawnMarkdown {
  content: DocumentFragment;
  /** Elements whose text is one formula, still to be typeset. */
  formulas: readonly HTMLElement[];
}

const DIAGRAM = 'mermaid';

export async function drawMarkdown(markdown: string, drawing: Drawing): Promise<DrawnMarkdown> {
  const { html, slots, asWritten } = slottedHtml(markdown);
  const content = allowedContent(html, asWritten);
  const formulas: HTMLElement[] = [];
  const pending: Promise<void>[] = [];
  for (const text of textsOf(content)) {
    const parts = partsOf(text.data, slots);
    if (!parts) {
      continue;
    }
    text.replaceWith(
      ...parts.map(part => {
        if (typeof part === 'string') {
          return part;
        }
        return part.kind === 'formula' ? formula(part, formulas) : code(part, drawing, pending);
      })
    );
  }
  await Promise.all(pending);
  return { content, formulas };
}

function textsOf(root: Node): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    texts.push(walker.currentNode as Text);
  }
  return texts;
}

/** Puts its source into an element of its own; only such elements are ever passed to MathJax. */
function formula({ source }: Slot & { kind: 'formula' }, formulas: HTMLElement[]): HTMLElement {
  const isDrawn = isPlainTex(source);
  const host = document.createElement(isDrawn ? 'span' : 'code');
  host.textContent = source;
  if (isDrawn) {
    host.className = 'onyx-Formula';
    formulas.push(host);
  }
  return host;
}

function code(slot: Slot & { kind: 'code' }, drawing: Drawing, pending: Promise<void>[]): HTMLElement {
  if (slot.language.toLowerCase() === DIAGRAM) {
    return drawing.diagrams.place(slot.source);
  }
  const block = document.createElement('pre');
  const inner = document.createElement('code');
  inner.textContent = slot.source;
  block.append(inner);
  if (slot.language && drawing.highlight) {
    pending.push(highlighted(slot, inner, drawing.highlight));
  }
  return block;
}

/** Highlighted if the language is known; unchanged if that fails. */
async function highlighted(
  { source, language }: Slot & { kind: 'code' },
  host: HTMLElement,
  highlight: NonNullable<Drawing['highlight']>
): Promise<void> {
  const coloured = document.createElement('code');
  try {
    await highlight(source, language, coloured);
  } catch {
    return;
  }
  if (coloured.textContent === source) {
    host.replaceWith(coloured);
  }
}
