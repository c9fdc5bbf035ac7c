/**
 * Cuts formulas out of Markdown before anything parses it: `$ $`, `$$ $$`, `\( \)`, `\[ \]` and bare
 * environments. Dollar amounts and code are left alone.
 */

const CODE = /(```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|(`+)[^`]*?\2)/;
const ENVIRONMENT = /\\begin\{(equation|align|gather|multline|eqnarray|alignat|flalign)(\*?)\}/g;

/**
 * The Markdown with each formula replaced by `place(formula)`; a formula keeps its delimiters, as dollars.
 */
export function cutFormulas(markdown: string, place: (formula: string) => string): string {
  if (!/[$\\]/.test(markdown)) {
    return markdown;
  }
  const parts = markdown.split(CODE);
  let result = '';
  // Two groups: every third part is text, the next one code, and the one after that the code's own backticks
  // again.
  for (let index = 0; index < parts.length; index += 3) {
    result += withoutFormulas(bracketsToDollars(parts[index]), place) + (parts[index + 1] ?? '');
  }
  return result;
}

function bracketsToDollars(text: string): string {
  return text
    .replace(/(?<!\\)\\\(([\s\S]+?)\\\)/g, (_, formula: string) => `$${formula.trim()}$`)
    .replace(/(?<!\\)\\\[([\s\S]+?)\\\]/g, (_, formula: string) => `$$${formula}$$`);
}

function withoutFormulas(text: string, place: (formula: string) => string): string {
  let result = '';
  let at = 0;
  for (let start = nextStart(text, at); start >= 0; start = nextStart(text, at)) {
    const end = endOf(text, start);
    result += text.slice(at, start);
    at = end < 0 ? start + (text.startsWith('$$', start) ? 2 : 1) : end;
    result += end < 0 ? text.slice(start, at) : place(text.slice(start, end));
  }
  return result + text.slice(at);
}

/** Where the next formula may begin; -1 if none does. */
function nextStart(text: string, from: number): number {
  const dollar = nextDollar(text, from);
  ENVIRONMENT.lastIndex = from;
  const environment = ENVIRONMENT.exec(text)?.index ?? -1;
  return environment >= 0 && (dollar < 0 || environment < dollar) ? environment : dollar;
}

/** The position after the formula that begins here; -1 if it is not a formula. */
function endOf(text: string, start: number): number {
  if (text[start] === '\\') {
    const name = text.slice(start + '\\begin'.length, text.indexOf('}', start) + 1);
    const end = text.indexOf(`\\end${name}`, start);
    return end < 0 ? -1 : end + `\\end${name}`.length;
  }
  if (text.startsWith('$$', start)) {
    const end = text.indexOf('$$', start + 2);
    return end < 0 ? -1 : end + 2;
  }
  const end = closingDollar(text, start);
  return end < 0 ? -1 : end + 1;
}

function nextDollar(text: string, from: number): number {
  let at = text.indexOf('$', from);
  while (at > 0 && text[at - 1] === '\\') {
    at = text.indexOf('$', at + 1);
  }
  return at;
}

/**
 * Where the formula that opens here closes, -1 if this dollar opens none: no space inside the delimiters, no
 * digit after the closing one, no paragraph break in between. Source: Pandoc's manual, `tex_math_dollars`.
 */
function closingDollar(text: string, open: number): number {
  if (!/\S/.test(text[open + 1] ?? '')) {
    return -1;
  }
  const paragraph = /\n\s*\n/g;
  paragraph.lastIndex = open;
  const last = paragraph.exec(text)?.index ?? text.length;
  let at = nextDollar(text, open + 1);
  while (at >= 0 && at < last) {
    if (at > open + 1 && /\S/.test(text[at - 1]) && !/\d/.test(text[at + 1] ?? '')) {
      return at;
    }
    at = nextDollar(text, at + 1);
  }
  return -1;
}
