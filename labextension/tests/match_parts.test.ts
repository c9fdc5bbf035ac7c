/** What a session's row shows of the turn that was found. */
import { expect, it } from 'vitest';

import { matchParts } from '../src/shared/match_parts';

const marked = (snippet: string, query: string) =>
  matchParts(snippet, query)
    .map(part => (part.isHit ? `[${part.text}]` : part.text))
    .join('');

it('marks the searched words and their prefixes', () => {
  expect(marked('Puffins nest in burrows.', 'puffin burrow')).toBe('[Puffins] nest in [burrows].');
  expect(marked('Über Vögel reden', 'vögel')).toBe('Über [Vögel] reden');
});

it('marks nothing for matches by meaning only', () => {
  expect(marked('We chose the vendor', 'salaries')).toBe('We chose the vendor');
  expect(marked('a of it', 'a of')).toBe('a of it');
});

it('starts a little before the first match, and ends at the limit', () => {
  const shown = marked(`${'before '.repeat(30)}puffins ${'after '.repeat(100)}`, 'puffins');
  expect(shown).toMatch(/^…before before before \[puffins\] after/);
  expect(shown.length).toBeLessThan(310);
  expect(shown.endsWith('…')).toBe(true);
});

it('treats the query as words, never as a pattern', () => {
  expect(marked('call f(x) [now]', '(.*)[')).toBe('call f(x) [now]');
});
