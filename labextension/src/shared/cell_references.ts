/** References to cells by their place in a notebook, as `cell 5`, counted from 1. */

type CellPart = string | { words: string; number: number };

const CELL = /\b[Cc]ells?\s(\d{1,4})\b(?![.,]?\d)/g;

export function hasCell(text: string): boolean {
  return text.search(CELL) >= 0;
}

/** The text in order: plain parts, and references with their words. */
export function cellParts(text: string): readonly CellPart[] {
  const parts: CellPart[] = [];
  let at = 0;
  for (const found of text.matchAll(CELL)) {
    const number = Number(found[1]);
    if (number > 0) {
      parts.push(text.slice(at, found.index), { words: found[0], number });
      at = found.index + found[0].length;
    }
  }
  parts.push(text.slice(at));
  return parts.filter(part => part !== '');
}
