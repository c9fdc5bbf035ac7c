/** `@` in the text: where it is, what it may refer to, and which candidates match. Independent of Jupyter. */
import type { ContextItem } from '../../protocol/wire';

export type MentionSection = 'selection' | 'error' | 'cells' | 'variables' | 'files' | 'notebooks';

/** One thing that can be mentioned. A folder has no item: choosing it continues inside it. */
export interface MentionOption {
  section: MentionSection;
  name: string;
  detail?: string;
  /** Shown in the code font. */
  isCode?: boolean;
  item?: ContextItem;
  /** What replaces the text after `@`, to continue the mention. */
  completion?: string;
}

/** What can be mentioned: `now` is available at once, the rest is requested. */
export interface MentionSources {
  now(): MentionOption[];
  variables(): Promise<MentionOption[]>;
  files(query: string): Promise<MentionOption[]>;
}

/** The `@` before the caret, and what was typed since. */
interface Mention {
  start: number;
  end: number;
  query: string;
}

const MAX_QUERY_CHARS = 80;
const SHORT_LIST = 5;
const LONG_LIST = 12;
const ORDER: readonly MentionSection[] = ['selection', 'error', 'cells', 'variables', 'files', 'notebooks'];

/** An `@` counts at the beginning or after a blank or bracket; an address such as a@b.org doesn't. */
export function mentionAt(text: string, caret: number): Mention | null {
  const start = text.slice(0, caret).lastIndexOf('@');
  if (start < 0 || caret - start - 1 > MAX_QUERY_CHARS) {
    return null;
  }
  const query = text.slice(start + 1, caret);
  const before = text[start - 1];
  const begins = before === undefined || /[\s([{"'“]/.test(before);
  return begins && !/\n/.test(query) && !query.startsWith(' ') ? { start, end: caret, query } : null;
}

/** The text without the mention, and the resulting caret position. */
export function withoutMention(text: string, { start, end }: Mention): { text: string; caret: number } {
  const before = text.slice(0, start);
  // Where two blanks would meet, one is enough.
  const after = before === '' || /\s$/.test(before) ? text.slice(end).replace(/^ /, '') : text.slice(end);
  return { text: before + after, caret: start };
}

/**
 * How well a name matches, higher is better; null if it doesn't. Letters must appear in order; consecutive
 * letters and the beginning of a word count more. In a query of several words, each has to appear literally.
 */
export function fit(name: string, query: string): number | null {
  const where = name.toLowerCase();
  const words = query.toLowerCase().trim().split(/\s+/).filter(Boolean);
  if (words.length > 1) {
    return words.every(word => where.includes(word)) ? words.join('').length : null;
  }
  const [wanted = ''] = words;
  const whole = where.indexOf(wanted);
  if (whole >= 0) {
    return 100 + wanted.length - Math.min(whole, 50) + (isWordStart(where, whole) ? 50 : 0);
  }
  let score = 0;
  let last = -1;
  for (const letter of wanted) {
    const at = where.indexOf(letter, last + 1);
    if (at < 0) {
      return null;
    }
    score += at === last + 1 ? 3 : isWordStart(where, at) ? 2 : -Math.min(at - last, 10) / 10;
    last = at;
  }
  return score;
}

export interface MentionGroup {
  section: MentionSection;
  options: readonly MentionOption[];
  /** How many more match. */
  hidden: number;
}

/** The matches, in sections; with a query the section with the best match comes first. */
export function groups(options: readonly MentionOption[], query: string): MentionGroup[] {
  const asked = query.trim() !== '';
  const scored = options.flatMap(option => {
    const wanted = option.section === 'files' ? query.slice(query.lastIndexOf('/') + 1) : query;
    const score = fit(option.name, wanted) ?? (option.detail ? fit(option.detail, wanted) : null);
    return score === null ? [] : [{ option, score }];
  });
  const made = ORDER.map(section => {
    const own = scored.filter(one => one.option.section === section);
    const sorted = asked ? own.sort((left, right) => right.score - left.score) : own;
    const shown = sorted.slice(0, asked ? LONG_LIST : SHORT_LIST);
    return {
      section,
      options: shown.map(one => one.option),
      hidden: own.length - shown.length,
      best: Math.max(...own.map(one => one.score))
    };
  }).filter(group => group.options.length > 0);
  const ordered = asked ? made.sort((left, right) => right.best - left.best) : made;
  return ordered.map(({ section, options: shown, hidden }) => ({ section, options: shown, hidden }));
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || /[\s_\-./]/.test(text[at - 1]);
}
