/**
 * What a text hides from its reader: invisible characters, odd spaces, look-alike letters. Pure. The server
 * does the same with the same tables (onyx_jupyter/security/visible_characters.py).
 */
import {
  EMOJI,
  GREEK,
  INVISIBLE,
  JOINING,
  LOOK_ALIKES,
  SIGNS,
  SPACES,
  STYLED,
  WIDE
} from './character_tables';

export type MarkKind = 'invisible' | 'space' | 'look_alike';

/** A place that needs a mark: one character, or the same one `count` times. */
export interface CharacterMark {
  readonly kind: MarkKind;
  readonly character: string;
  readonly count: number;
  /** `U+202E`. */
  readonly label: string;
  /** `right-to-left override`; for a look-alike, the character that it passes for. */
  readonly name: string;
}

export type Piece = string | CharacterMark;

type Range = readonly [number, number, ...unknown[]];

const FLAGS = ['gbeng', 'gbsct', 'gbwls'].map(
  flag =>
    `\u{1f3f4}${[...flag].map(one => String.fromCodePoint(0xe0000 + one.codePointAt(0)!)).join('')}\u{e007f}`
);
const PLAIN = /^[\n\t\x20-\x7e]*$/;
const WORDS = /[\p{L}\p{N}_\u0300-\u036f]+/gu;
const LETTERS = /(?:(?![0-9_])[\p{L}\p{N}_\u0300-\u036f])+/gu;
const find = {
  invisible: ranges(INVISIBLE, 'gu'),
  spaces: ranges(SPACES, 'gu'),
  lookAlikes: ranges([...single(LOOK_ALIKES.keys()), ...STYLED], 'gu'),
  signs: ranges(single(SIGNS.keys()), 'gu'),
  flags: new RegExp(FLAGS.join('|'), 'gu')
};
const is = {
  emoji: ranges(EMOJI, 'u'),
  joining: ranges(JOINING, 'u'),
  wide: ranges(WIDE, 'u'),
  greek: new RegExp(`^${ranges(GREEK, 'u').source}+$`, 'u')
};

/**
 * The text in pieces. Emoji, accents, prose in any script, and joiners in Arabic and Indic words get no mark.
 */
export function visiblePieces(text: string): Piece[] {
  if (PLAIN.test(text)) {
    return text === '' ? [] : [text];
  }
  const kinds = new Map<number, MarkKind>([
    ...invisible(text).map(at => [at, 'invisible'] as const),
    ...oddSpaces(text).map(at => [at, 'space'] as const),
    ...lookAlikes(text).map(at => [at, 'look_alike'] as const)
  ]);
  const pieces: Piece[] = [];
  let past = 0;
  for (const at of [...kinds.keys()].sort((one, other) => one - other)) {
    if (at < past) {
      continue; // part of a run that is one mark
    }
    if (at > past) {
      pieces.push(text.slice(past, at));
    }
    const character = characterAt(text, at);
    past = at;
    while (kinds.has(past) && characterAt(text, past) === character) {
      past += character.length;
    }
    pieces.push(markOf(kinds.get(at)!, character, (past - at) / character.length));
  }
  if (past < text.length) {
    pieces.push(text.slice(past));
  }
  return pieces;
}

/** The text with `⟨U+202E⟩` in each such place, for places that can only show text. */
export function withMarks(text: string): string {
  return visiblePieces(text)
    .map(piece =>
      typeof piece === 'string'
        ? piece.replace(/⟨(?=U\+[0-9A-F])/g, '⟨U+27E8⟩')
        : `⟨${piece.label}${piece.count > 1 ? `×${piece.count}` : ''}⟩`
    )
    .join('');
}

/** The warnings about a text, the same as the server's for an approval. */
export function cautionsIn(text: string): Array<'invisible' | 'look_alike'> {
  const kinds = new Set(
    visiblePieces(text).map(piece =>
      typeof piece === 'string' ? null : piece.kind === 'invisible' ? 'invisible' : 'look_alike'
    )
  );
  return (['invisible', 'look_alike'] as const).filter(kind => kinds.has(kind));
}

function markOf(kind: MarkKind, character: string, count: number): CharacterMark {
  const code = character.codePointAt(0)!;
  const label = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  if (kind === 'look_alike') {
    return { kind, character, count, label, name: plainOf(character) };
  }
  const table = kind === 'space' ? SPACES : INVISIBLE;
  const name = table.find(([first, last]) => first <= code && code <= last)![2];
  return { kind, character, count, label, name };
}

function plainOf(character: string): string {
  const code = character.codePointAt(0)!;
  return LOOK_ALIKES.get(code) ?? SIGNS.get(code) ?? character.normalize('NFKC');
}

function invisible(text: string): number[] {
  const flags = [...text.matchAll(find.flags)].map(({ 0: flag, index }) => [index, index + flag.length]);
  return places(text, find.invisible).filter(
    at => !joins(text, at) && !flags.some(([start, end]) => start < at && at < end)
  );
}

/** Whether it is part of an emoji, or of a word whose letters it joins. */
function joins(text: string, at: number): boolean {
  const [character, before, after] = [text[at], characterBefore(text, at), characterAt(text, at + 1)];
  if (character === '\ufe0e' || character === '\ufe0f') {
    return (/^[0-9#*]$/.test(before) && after === '\u20e3') || is.emoji.test(before);
  }
  if (character !== '\u200c' && character !== '\u200d') {
    return false;
  }
  if (is.joining.test(before) && is.joining.test(after)) {
    return true;
  }
  const base = before === '\ufe0f' ? characterBefore(text, at - 1) : before;
  return character === '\u200d' && is.emoji.test(base) && is.emoji.test(after);
}

/** The wide space of Chinese and Japanese prose is not odd beside their characters. */
function oddSpaces(text: string): number[] {
  const isWide = (character: string) => is.wide.test(character);
  return places(text, find.spaces).filter(
    at => text[at] !== '\u3000' || !(isWide(characterBefore(text, at)) || isWide(characterAt(text, at + 1)))
  );
}

/** In a word that is otherwise Latin, and signs between Latin letters. */
function lookAlikes(text: string): number[] {
  const found = places(text, find.signs).filter(at => {
    const sides = [characterBefore(text, at), characterAt(text, at + 1)];
    return sides.every(side => /^[A-Za-z0-9]$/.test(side)) && sides.some(side => /[A-Za-z]/.test(side));
  });
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    if (!/[A-Za-z]/.test(word) || word.search(find.lookAlikes) < 0) {
      continue;
    }
    for (const { 0: letters, index: start } of word.matchAll(LETTERS)) {
      if (!is.greek.test(letters)) {
        // Greek letters alone are a symbol in a name: `ρ_air`, `τ0`.
        found.push(...places(letters, find.lookAlikes).map(at => index + start + at));
      }
    }
  }
  return found;
}

function places(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map(({ index }) => index);
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function characterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? '';
  const isPair = /^[\udc00-\udfff]$/.test(last) && /^[\ud800-\udbff]$/.test(text[at - 2] ?? '');
  return isPair ? text.slice(at - 2, at) : last;
}

function ranges(list: Iterable<Range>, flags: string): RegExp {
  const classes = Array.from(list, ([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`);
  return new RegExp(`[${classes.join('')}]`, flags);
}

function single(codes: Iterable<number>): Range[] {
  return Array.from(codes, code => [code, code] as const);
}
