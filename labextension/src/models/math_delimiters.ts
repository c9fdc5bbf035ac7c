/**
 * Formulas as models write them, put the way JupyterLab's Markdown reads them: `\( \)` and `\[ \]` become dollars, and a
 * dollar that is money stays money. Code is left alone.
 */

const CODE = /(```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|(`+)[^`]*?\2)/;
/** A dollar that nothing takes for a formula: the Markdown side sees an entity, MathJax skips elements of this class. */
const PLAIN_DOLLAR = '<span class="mathjax_ignore">&#36;</span>';

export function normalizeMath(markdown: string): string {
  if (!/[$\\]/.test(markdown)) {
    return markdown;
  }
  const parts = markdown.split(CODE);
  let result = '';
  // Two groups: every third part is text, the one after it code, and the next the code's own backticks again.
  for (let index = 0; index < parts.length; index += 3) {
    result += plainDollars(bracketsToDollars(parts[index])) + (parts[index + 1] ?? '');
  }
  return result;
}

function bracketsToDollars(text: string): string {
  return text
    .replace(/(?<!\\)\\\(([\s\S]+?)\\\)/g, (_, formula: string) => `$${formula.trim()}$`)
    .replace(/(?<!\\)\\\[([\s\S]+?)\\\]/g, (_, formula: string) => `$$${formula}$$`);
}

function plainDollars(text: string): string {
  let result = '';
  let at = 0;
  while (at < text.length) {
    const dollar = nextDollar(text, at);
    if (dollar < 0) {
      break;
    }
    const double = text.startsWith('$$', dollar);
    const end = double ? text.indexOf('$$', dollar + 2) : closingDollar(text, dollar);
    result += text.slice(at, dollar);
    if (end >= 0) {
      at = end + (double ? 2 : 1);
      result += text.slice(dollar, at);
    } else {
      at = dollar + (double ? 2 : 1);
      result += PLAIN_DOLLAR.repeat(double ? 2 : 1);
    }
  }
  return result + text.slice(at);
}

function nextDollar(text: string, from: number): number {
  let at = text.indexOf('$', from);
  while (at > 0 && text[at - 1] === '\\') {
    at = text.indexOf('$', at + 1);
  }
  return at;
}

/**
 * Where the formula that opens here closes, -1 when this dollar opens none: no space inside the delimiters, no digit
 * after the closing one, no paragraph in between. Source: Pandoc's manual, `tex_math_dollars`.
 */
function closingDollar(text: string, open: number): number {
  if (!/\S/.test(text[open + 1] ?? '')) {
    return -1;
  }
  let at = nextDollar(text, open + 1);
  while (at >= 0) {
    if (/\n\s*\n/.test(text.slice(open, at))) {
      return -1;
    }
    if (at > open + 1 && /\S/.test(text[at - 1]) && !/\d/.test(text[at + 1] ?? '')) {
      return at;
    }
    at = nextDollar(text, at + 1);
  }
  return -1;
}
