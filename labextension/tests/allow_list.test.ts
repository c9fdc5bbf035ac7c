import { describe, expect, it } from 'vitest';

import { allowedContent } from '../src/rendering/allow_list';
import allowed from '../src/rendering/allowed_html.json';
import { drawMarkdown } from '../src/rendering/draw_markdown';
import type { Drawing } from '../src/rendering/draw_markdown';

function shown(html: string): string {
  const host = document.createElement('div');
  host.append(allowedContent(html));
  return host.innerHTML;
}

const drawing: Drawing = {
  diagrams: {
    place: source => {
      const figure = document.createElement('figure');
      figure.textContent = source;
      return figure;
    }
  }
};

async function drawn(markdown: string): Promise<HTMLElement> {
  const host = document.createElement('div');
  host.append((await drawMarkdown(markdown, drawing)).content);
  return host;
}

describe('allowedContent', () => {
  it('keeps only elements and attributes on the list', () => {
    const everything = [
      ...allowed.elements,
      'button',
      'form',
      'input',
      'svg',
      'math',
      'style',
      'template',
      'onyx-x'
    ]
      .map(
        name => `<${name} style="color:red" class="a" id="b" data-onyx="c" onclick="d()" title="e" href="f">x`
      )
      .join('');
    const page = new DOMParser().parseFromString(shown(everything), 'text/html');
    for (const element of page.body.querySelectorAll('*')) {
      if (element.className === 'onyx-LinkTarget') {
        continue;
      }
      expect(allowed.elements).toContain(element.localName);
      const known = (allowed.attributes as Record<string, string[]>)[element.localName] ?? [];
      expect([...element.attributes].map(({ name }) => name).filter(name => !known.includes(name))).toEqual(
        []
      );
    }
  });

  it('turns an external image into a link that shows its target', () => {
    const html = shown('<p><img src="https://evil.example/p.png?secret" alt="plot" srcset="x 2x"></p>');
    expect(html).not.toContain('<img');
    expect(html).toContain('>plot<span class="onyx-LinkTarget"> (evil.example)</span></a>');
    expect(html).toContain('rel="noopener noreferrer nofollow"');
  });

  it('keeps small inline images, but no SVG that could be a page', () => {
    expect(shown('<img src="data:image/png;base64,AAAA" alt="a">')).toContain('<img');
    expect(shown('<img src="data:image/svg+xml;base64,AAAA" alt="a">')).not.toContain('<img');
    expect(shown(`<img src="data:image/png;base64,${'A'.repeat(500_000)}" alt="a">`)).not.toContain('<img');
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'commandlinker:apputils:run-all-enabled',
    '//evil.example/x',
    '/lab/api/workspaces',
    '../api/shutdown',
    'x.ipynb',
    'file:///etc/passwd',
    'blob:http://x/1'
  ])('makes no link of %s', address => {
    const link = document.createElement('a');
    link.setAttribute('href', address);
    link.textContent = 'words';
    expect(shown(link.outerHTML)).toBe('words');
  });

  it('lets no link text hide the target', () => {
    expect(shown('<a href="https://evil.example/a">https://bank.example</a>')).toContain('(evil.example)');
    expect(shown('<a href="https://bank.example/a">https://bank.example/…</a>')).not.toContain('LinkTarget');
    expect(shown('<a href="https://user@evil.example/">evil.example</a>')).not.toContain('LinkTarget');
    expect(shown('<a href="https://evil.example/login">/login</a>')).toContain('(evil.example)');
    const posing = 'https://bank.example@evil.example/';
    expect(shown(`<a href="${posing}">${posing}</a>`)).toContain('(evil.example)');
    expect(shown('<a href="mailto:a@b.example">a@b.example</a>')).not.toContain('LinkTarget');
  });

  it('exposes nothing that was hidden from its parser', () => {
    const nested =
      '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">';
    expect(shown(nested)).not.toMatch(/onerror|<img|<style/);
    expect(shown('<noscript><p title="</noscript><img src=x onerror=alert(1)>">')).not.toMatch(
      /<img|<noscript/
    );
  });
});

describe('drawMarkdown', () => {
  it('is not misled by form fields named like element properties', async () => {
    const names = [
      'attributes',
      'getAttribute',
      'childNodes',
      'parentNode',
      'replaceWith',
      'querySelectorAll'
    ];
    const host = await drawn(`<form>${names.map(name => `<input name="${name}">`).join('')}<b>x</b></form>`);
    expect(host.querySelector('form, input')).toBeNull();
    expect(host.textContent).toContain('x');
  });

  it('puts code and formulas back in place, as text', async () => {
    const host = await drawn('a $x < 1$ b\n\n> ```python\n> 1 < 2 # <img src=x>\n> ```\n\n- `<b>`');
    expect(host.querySelector('.onyx-Formula')?.textContent).toBe('$x < 1$');
    expect(host.querySelector('blockquote pre code')?.textContent).toBe('1 < 2 # <img src=x>');
    expect(host.querySelector('li code')?.textContent).toBe('<b>');
    expect(host.querySelector('img')).toBeNull();
  });

  it('never passes on an unknown formula', async () => {
    const host = await drawn('$\\style{cursor:url(http://x)}{x}$ and &#36;\\style{a}{b}&#36;');
    expect(host.querySelector('.onyx-Formula')).toBeNull();
    expect(host.querySelector('code')?.textContent).toBe('$\\style{cursor:url(http://x)}{x}$');
  });

  it('renders diagrams separately, also inside a quote', async () => {
    const host = await drawn('> ```mermaid\n> A --> B\n> ```');
    expect(host.querySelector('blockquote figure')?.textContent).toBe('A --> B');
  });

  it('restores a dollar sign in an address or in code', async () => {
    const host = await drawn('[a](https://x.example/?a=$1&b=$c) <code>$y$</code>\n\n    $z$ indented');
    expect(host.querySelector('a')?.getAttribute('href')).toBe('https://x.example/?a=$1&b=$c');
    expect(host.querySelector('code')?.textContent).toBe('$y$');
    expect(host.querySelector('pre')?.textContent).toContain('$z$ indented');
  });

  it('does not mistake user text for a placeholder', async () => {
    const host = await drawn('\ue0000\ue001 and `\ue0001\ue001` and ```\n\ue0002\ue001\n```');
    expect(host.textContent).toContain('\ufffd0\ufffd');
    expect(
      (await drawn('&#xe000;7&#xe001; [a](https://x.example/%EE%80%807%EE%80%81)')).textContent
    ).toContain('7');
  });

  it('shows deeply nested content as source', async () => {
    const host = await drawn('>'.repeat(20_000) + ' x');
    expect(host.textContent).toContain('x');
  });
});
