import { describe, expect, it, vi } from 'vitest';

import { CodeBlock } from '../src/shared/code_block';
import { DiffView } from '../src/shared/diff_view';
import { drawAnew, host, render } from './drawing';

vi.mock('../src/shared/markdown_block_view', () => ({ MarkdownBlockView: () => null }));

drawAnew();

const draw = (shown: JSX.Element) => render(shown, { copy: vi.fn(), insertCode: vi.fn() });

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
