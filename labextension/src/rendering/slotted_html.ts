/**
 * Markdown as HTML in which formulas and code stand as slots, to be filled when all else has passed the allow-list: what
 * is put into a slot is never read as HTML. It shows nothing.
 */
import { Marked } from 'marked';

import { cutFormulas } from './formulas';

/** Code without its fence, or a formula with its dollars. */
export type Slot = { kind: 'formula'; source: string } | { kind: 'code'; source: string; language: string };

/** A slot's mark: its number between two characters that no text of anybody's keeps; the second form is that in a URL. */
const MARK = /\ue000(\d+)\ue001/;
const MARKS = /(?:\ue000|%EE%80%80)(\d+)(?:\ue001|%EE%80%81)/g;

export interface SlottedHtml {
  html: string;
  slots: readonly Slot[];
  /** A text with what was cut out of it: a dollar in an address or in code opens no formula. */
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

/** A text as words and slots in turns; null where it holds none. */
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
    const plain = document.createElement('pre'); // nested deeper than any text is meant to be
    plain.textContent = markdown;
    return plain.outerHTML;
  }
}
