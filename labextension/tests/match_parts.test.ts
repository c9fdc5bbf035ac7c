/** What a session's row shows of the turn that was found. */
import { expect, it } from 'vitest';

import { matchParts } from '../src/shared/match_parts';

const marked = (snippet: string, query: string) =>
  matchParts(snippet, query)
    .map(part => (part.isHit ? `[${part.text}]` : part.text))
    .join('');

it('marks the words that were searched for, and what begins with them', () => {
  expect(marked('Puffins nest in burrows.', 'puffin burrow')).toBe('[Puffins] nest in [burrows].');
  expect(marked('Über Vögel reden', 'vögel')).toBe('Über [Vögel] reden');
});

it('marks nothing where the meaning alone was found', () => {
  expect(marked('We chose the vendor', 'salaries')).toBe('We chose the vendor');
  expect(marked('a of it', 'a of')).toBe('a of it');
});

it('begins a little before the first of them, and ends with what fits', () => {
  const shown = marked(`${'before '.repeat(30)}puffins ${'after '.repeat(100)}`, 'puffins');
  expect(shown).toMatch(/^…before before before \[puffins\] after/);
  expect(shown.length).toBeLessThan(310);
  expect(shown.endsWith('…')).toBe(true);
});

it('takes what is typed as words, never as a pattern', () => {
  expect(marked('call f(x) [now]', '(.*)[')).toBe('call f(x) [now]');
});
