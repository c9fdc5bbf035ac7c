import { describe, expect, it } from 'vitest';

import { cutFormulas } from '../src/rendering/formulas';
import { isPlainTex } from '../src/rendering/tex_allow_list';

const marked = (markdown: string) => cutFormulas(markdown, formula => `⟦${formula}⟧`);

describe('cutFormulas', () => {
  it('finds formulas in brackets and in dollars', () => {
    expect(marked('so \\( x^2 \\) and \\[ y \\]')).toBe('so ⟦$x^2$⟧ and ⟦$$ y $$⟧');
    expect(marked('$x$ and $$y$$ and \\$5')).toBe('⟦$x$⟧ and ⟦$$y$$⟧ and \\$5');
  });

  it('finds standalone environments', () => {
    expect(marked('see \\begin{align}\na &= b\n\\end{align} there')).toBe(
      'see ⟦\\begin{align}\na &= b\n\\end{align}⟧ there'
    );
    expect(marked('\\begin{align} a')).toBe('\\begin{align} a');
  });

  it('ignores amounts of money', () => {
    for (const money of ['from $5 to $10', '$5–$10', 'US$', 'a $ b $ c']) {
      expect(marked(money)).toBe(money);
    }
  });

  it('changes nothing inside code', () => {
    const source = 'run `echo $HOME \\( a \\)` and\n```sh\necho $A $B\n```';
    expect(marked(source)).toBe(source);
  });

  it('finds formulas after code', () => {
    expect(marked('`a` then \\(x\\) then ``b`` then \\(y\\)')).toBe('`a` then ⟦$x$⟧ then ``b`` then ⟦$y$⟧');
  });

  it('does not extend a formula beyond its paragraph', () => {
    expect(marked('$a\n\nb$')).toBe('$a\n\nb$');
  });
});

describe('isPlainTex', () => {
  it.each([
    'A = \\pi r^2',
    '\\int_0^1 x^2\\,dx = \\tfrac{1}{3}',
    '\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}',
    '\\left\\{ x \\in \\mathbb{R} \\mid \\|x\\| < 1 \\right\\}',
    '\\hat{\\beta} = (X^\\top X)^{-1} X^\\top y \\quad \\text{if } \\det X \\neq 0',
    'P(A \\mid B) = \\frac{P(B \\mid A)\\,P(A)}{P(B)} \\tag{1}'
  ])('renders %s', formula => {
    expect(isPlainTex(formula)).toBe(true);
  });

  it.each([
    '\\style{cursor:url(http://x)}{x}',
    '\\class{onyx-Approval}{x}',
    '\\cssId{a}{x}',
    '\\href{javascript:alert(1)}{x}',
    '\\require{html}',
    '\\data{x=1}{y}',
    '\\bbox[background:url(//x)]{y}',
    '\\mmlToken{mi}[href="//x"]{y}',
    '\\unicode[url(x)]{65}',
    '\\includegraphics{//x}',
    '\\def\\a{\\style}',
    '\\newcommand{\\a}{b}',
    '\\let\\a\\style',
    '\\text{ \\style{a}{b} }',
    '\\begin{style}a\\end{style}',
    '\\begin {html} a',
    '\\unknown',
    'a'.repeat(5000),
    '{'.repeat(100)
  ])('shows the source of %s', formula => {
    expect(isPlainTex(formula)).toBe(false);
  });
});
