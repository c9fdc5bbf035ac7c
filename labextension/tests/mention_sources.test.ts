import { nullTranslator } from '@jupyterlab/translation';
import { beforeEach, describe, expect, it } from 'vitest';

import { PageMentions } from '../src/features/composer/mention_sources';
import type { PageParts } from '../src/features/composer/mention_sources';
import type { MentionOption } from '../src/features/composer/mentions';

const trans = nullTranslator.load('onyx_jupyter');

interface Made {
  type?: string;
  source: string;
  error?: string;
  count?: number;
}

/** As much of a cell as is looked at. */
function cell({ type = 'code', source, error, count }: Made, index: number) {
  const outputs = error ? [{ type: 'error', toJSON: () => ({ ename: 'KeyError', evalue: error }) }] : [];
  return {
    model: {
      id: `c${index + 1}`,
      type,
      executionCount: count ?? null,
      sharedModel: { getSource: () => source },
      outputs: { length: outputs.length, get: (at: number) => outputs[at] }
    },
    editor: null as unknown
  };
}
const panel = (path: string, ...cells: Made[]) => ({
  context: { path },
  content: { widgets: cells.map(cell) }
});
/** An editor over these lines, selected from and to a line and column. */
function editor(lines: string[], from: [number, number], to: [number, number]) {
  const offset = ([line, column]: [number, number]) =>
    lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + column;
  const position = ([line, column]: [number, number]) => ({ line, column });
  return {
    getSelection: () => ({ start: position(from), end: position(to) }),
    getOffsetAt: (at: { line: number; column: number }) => offset([at.line, at.column]),
    model: { sharedModel: { getSource: () => lines.join('\n') } }
  };
}

let page: Record<string, unknown>;
const mentions = () => new PageMentions(page as unknown as PageParts);
const named = (options: MentionOption[]) => options.map(one => `${one.section}: ${one.name}`);

beforeEach(() => {
  const front = panel(
    'work/plot.ipynb',
    { type: 'markdown', source: '## Load data\nwords' },
    { source: '\n\ndf["a"]', error: "'a'", count: 9 },
    { source: 'df["b"]', error: "'b'", count: 4 },
    { source: '   ' }
  );
  const other = panel('other.ipynb');
  page = {
    notebooks: {
      currentWidget: front,
      activeCell: front.content.widgets[1],
      forEach: (call: (one: unknown) => void) => [front, other].forEach(call)
    },
    editors: null,
    contents: { get: () => Promise.reject(new Error('no contents')) },
    variables: () => Promise.resolve([]),
    isEditorInFront: () => false,
    trans
  };
});

describe('what can be mentioned', () => {
  it('includes cells by heading or first line, the latest error, and other notebooks', () => {
    const now = mentions().now();
    expect(named(now)).toEqual([
      "error: KeyError: 'a'",
      'cells: Load data',
      'cells: df["a"]',
      'cells: df["b"]',
      'notebooks: other.ipynb'
    ]);
    expect(now[0].item).toEqual({ type: 'error', path: 'work/plot.ipynb', cellId: 'c2', label: 'cell 2' });
    expect(now[1].item?.label).toBe('“Load data”');
  });

  it('includes the selection in the cell, in either direction', () => {
    const { activeCell } = page.notebooks as { activeCell: { editor: unknown } };
    activeCell.editor = editor(['one', 'two', 'three'], [2, 2], [0, 1]);
    expect(mentions().selection()).toMatchObject({
      type: 'selection',
      cellId: 'c2',
      text: 'ne\ntwo\nth',
      startLine: 1,
      endLine: 3
    });
    activeCell.editor = editor(['one', 'two'], [0, 0], [1, 0]);
    expect(mentions().selection()).toMatchObject({ text: 'one\n', startLine: 1, endLine: 1 });
    activeCell.editor = editor(['one'], [0, 2], [0, 2]);
    expect(mentions().selection()).toBeNull();
  });

  it('includes the selection in the current text file', () => {
    const content = { editor: editor(['import os', 'x = 1'], [1, 0], [1, 5]) };
    page.editors = { currentWidget: { content, context: { path: 'RTC:src/train.py' } } };
    expect(mentions().selection()).toBeNull();
    page.isEditorInFront = () => true;
    expect(mentions().selection()).toMatchObject({ path: 'src/train.py', text: 'x = 1', startLine: 2 });
  });

  it('includes files of the notebook’s folder, then of the typed folder, folders last', async () => {
    const asked: string[] = [];
    const file = (name: string, type = 'file') => ({ name, type, path: `work/${name}` });
    const content = [file('sub', 'directory'), file('t.csv'), file('a.ipynb', 'notebook')];
    page.contents = { get: (path: string) => Promise.resolve((asked.push(path), { content })) };
    const found = await mentions().files('');
    expect(found.map(one => one.item?.type ?? one.completion)).toEqual(['notebook', 'file', 'work/sub/']);
    await mentions().files('data/raw/');
    expect(asked).toEqual(['work', 'data/raw']);
  });

  it('includes the variables of the current notebook', async () => {
    page.variables = (path: string) => Promise.resolve([{ name: 'df', detail: path }]);
    expect(await mentions().variables()).toMatchObject([
      { name: 'df', item: { type: 'variable', path: 'work/plot.ipynb', name: 'df' } }
    ]);
  });

  it('is limited to files if no notebook is open', async () => {
    page.notebooks = null;
    expect(mentions().now()).toEqual([]);
    expect(await mentions().variables()).toEqual([]);
  });
});
