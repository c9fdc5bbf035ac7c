import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CodeBlock } from '../src/shared/code_block';
import { DiffView } from '../src/shared/diff_view';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';

vi.mock('@jupyterlab/ui-components', () =>
  Object.fromEntries(['addBelowIcon', 'checkIcon', 'copyIcon'].map(name => [name, { react: () => null }]))
);
vi.mock('../src/shared/markdown_block_view', () => ({ MarkdownBlockView: () => null }));

let root: Root;
let host: HTMLElement;
const draw = (shown: JSX.Element) =>
  act(async () => {
    const ui = { trans: nullTranslator.load('onyx_jupyter'), copy: vi.fn(), insertCode: vi.fn() };
    root.render(<UiProvider value={ui as unknown as Ui}>{shown}</UiProvider>);
  });

beforeEach(() => {
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});

afterEach(() => {
  act(() => root.unmount());
  host.remove();
});

describe('a code block in an answer', () => {
  const canInsert = async (language: string) => {
    await draw(<CodeBlock source="x" code="x" language={language} finished />);
    expect(host.querySelector('[data-onyx=copy-code]')).not.toBeNull();
    return host.querySelector('[data-onyx=insert-code]') !== null;
  };

  it.each(['python', 'R', ''])('in “%s” can be inserted as a cell', async language => {
    expect(await canInsert(language)).toBe(true);
  });

  it.each(['text', 'Output', 'console', 'mermaid'])('in %s can only be copied', async language => {
    expect(await canInsert(language)).toBe(false);
  });
});

describe('a diff line', () => {
  const indents = () => [...host.querySelectorAll('.onyx-Diff-indent')].map(one => one.textContent);
  const texts = () => [...host.querySelectorAll('.onyx-Diff-text')].map(one => one.textContent);

  it('keeps its indentation and all of its text', async () => {
    await draw(<DiffView before="" after={'a\n    b c\n'} />);
    expect(indents()).toEqual(['    ']);
    expect(texts()).toEqual(['a', '    b c', ' ']);
  });

  it('is checked as a whole for deceptive characters', async () => {
    await draw(<DiffView before="" after={'  \u200bhidden'} />);
    expect(indents()).toEqual([]);
    expect(host.querySelector('[data-onyx=character-mark]')).not.toBeNull();
  });
});
