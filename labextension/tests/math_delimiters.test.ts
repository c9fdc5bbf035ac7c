import { describe, expect, it } from 'vitest';

import { normalizeMath } from '../src/models/math_delimiters';

const PLAIN = '<span class="mathjax_ignore">&#36;</span>';

describe('normalizeMath', () => {
  it('turns bracket delimiters into dollars', () => {
    expect(normalizeMath('so \\( x^2 \\) and \\[ y \\]')).toBe('so $x^2$ and $$ y $$');
  });

  it('keeps formulas in dollars as they are', () => {
    expect(normalizeMath('$x$ and $$y$$ and \\$5')).toBe('$x$ and $$y$$ and \\$5');
  });

  it('leaves money alone', () => {
    expect(normalizeMath('from $5 to $10')).toBe(`from ${PLAIN}5 to ${PLAIN}10`);
    expect(normalizeMath('$5–$10')).toBe(`${PLAIN}5–${PLAIN}10`);
  });

  it('changes nothing inside code', () => {
    const source = 'run `echo $HOME \\( a \\)` and\n```sh\necho $A $B\n```';
    expect(normalizeMath(source)).toBe(source);
  });

  it('changes text behind code', () => {
    expect(normalizeMath('`a` then \\(x\\) then ``b`` then \\(y\\)')).toBe(
      '`a` then $x$ then ``b`` then $y$'
    );
  });
});
