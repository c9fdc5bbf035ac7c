import { describe, expect, it } from 'vitest';

import { MarkdownBlocks } from '../src/shared/markdown_blocks';

const split = (text: string) => new MarkdownBlocks().update(text, true);

const LONG = [
  '# Title',
  '',
  'A paragraph',
  'of two lines.',
  '',
  '- one',
  '',
  '  still one',
  '- two',
  '',
  '  ```python',
  '  a = 1',
  '',
  '  b = 2',
  '  ```',
  '',
  'After the list.',
  '```python',
  'x = 1',
  '',
  'y = 2',
  '```',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
  '',
  '$$',
  'x = 1',
  '',
  'y = 2',
  '$$',
  'End.'
].join('\n');

describe('MarkdownBlocks', () => {
  it('splits at blank lines and keeps fences, lists, tables and formulas whole', () => {
    expect(split(LONG).map(block => block.text.split('\n')[0])).toEqual([
      '# Title',
      'A paragraph',
      '- one',
      'After the list.',
      '```python',
      '| a | b |',
      '$$',
      'End.'
    ]);
  });

  it('neither loses nor repeats lines', () => {
    const words = (text: string) => text.split(/\s+/).filter(Boolean);
    expect(split(LONG).flatMap(block => words(block.text))).toEqual(words(LONG));
  });

  it('gives the same blocks however the text is chunked', () => {
    for (const size of [1, 2, 3, 7, 50]) {
      const blocks = new MarkdownBlocks();
      for (let end = size; end < LONG.length; end += size) {
        blocks.update(LONG.slice(0, end), false);
      }
      expect(blocks.update(LONG, true)).toEqual(split(LONG));
    }
  });

  it('never changes a finished block', () => {
    const blocks = new MarkdownBlocks();
    let before: readonly unknown[] = [];
    for (let end = 1; end <= LONG.length; end += 1) {
      const now = blocks.update(LONG.slice(0, end), false);
      const finished = now.filter(block => block.finished);
      expect(finished.slice(0, before.length)).toEqual(before);
      finished.slice(0, before.length).forEach((block, index) => expect(block).toBe(before[index]));
      before = finished;
    }
    expect(before.length).toBe(7);
  });

  it('returns code and language of a fence without the fences', () => {
    const [block] = split('```python title="a"\nx = 1\n\ny = 2\n```');
    expect(block).toMatchObject({ kind: 'code', language: 'python', code: 'x = 1\n\ny = 2', finished: true });
  });

  it('shows an open fence as code and hides a partial closing fence', () => {
    const [block] = new MarkdownBlocks().update('```js\nlet a;\n``', false);
    expect(block).toMatchObject({ kind: 'code', language: 'js', code: 'let a;', finished: false });
  });

  it('does not close a fence of four backticks with three', () => {
    const blocks = split('````md\n```\ninner\n```\n````\nafter');
    expect(blocks.map(block => block.kind)).toEqual(['code', 'markdown']);
    expect(blocks[0].code).toBe('```\ninner\n```');
  });

  it('restarts when the text is replaced', () => {
    const blocks = new MarkdownBlocks();
    blocks.update('one\n\ntwo', false);
    expect(blocks.update('three', true).map(block => block.text)).toEqual(['three']);
  });
});
