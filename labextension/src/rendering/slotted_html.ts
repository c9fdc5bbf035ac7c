/**
 * Markdown as HTML in which formulas and code are slots, filled once everything else has passed the
 * allow-list: what is put into a slot is never parsed as HTML.
 */
import { Marked } from 'marked';

import { cutFormulas } from './formulas';

/** Code without its fence, or a formula with its dollars. */
export type Slot = { kind: 'formula'; source: string } | { kind: 'code'; source: string; language: string };

/**
 * A slot's mark: its number between two characters that are removed from every text; the second form is for
 * URLs.
 */
const MARK = /\ue000(\d+)\ue001/;
const MARKS = /(?:\ue000|%EE%80%80)(\d+)(?:\ue001|%EE%80%81)/g;

interface SlottedHtml {
  html: string;
  slots: readonly Slot[];
  /** Restores what was cut out of a text: a dollar in an address or in code opens no formula. */
  asWritten: (text: string) => string;
}

export function slottedHtml(markdown: string): SlottedHtml {
  const slots: Slot[] = [];
  const cut = (slot: Slot) => `\ue000${slots.push(slot) - 1}\ue001`;
  const asWritten = (text: string) =>
    text.replace(MARKS, (mark, number: string) => slots[Number(number)]?.source ?? mark);
  const text = cutFormulas(markdown.replace(/[\ue000\ue001]/g, '\ufffd'), source =>
    cut({ kind: 'formula', source })
  );
  const html = htmlOf(text, (code, language) => cut({ kind: 'code', source: asWritten(code), language }));
  return { html, slots, asWritten };
}

/** A text split into words and slots; null if it has no slots. */
export function partsOf(text: string, slots: readonly Slot[]): (string | Slot)[] | null {
  if (!MARK.test(text)) {
    return null;
  }
  return text.split(MARK).map((part, index) => (index % 2 ? (slots[Number(part)] ?? part) : part));
}

function htmlOf(markdown: string, cut: (code: string, language: string) => string): string {
  const parser = new Marked({
    gfm: true,
    renderer: {
      code: ({ text, lang }) => `<div>${cut(text, /^\S*/.exec(lang ?? '')![0])}</div>\n`,
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ ')
    }
  });
  try {
    return parser.parse(markdown, { async: false });
  } catch {
    const plain = document.createElement('pre'); // nested deeper than any reasonable text
    plain.textContent = markdown;
    return plain.outerHTML;
  }
}
