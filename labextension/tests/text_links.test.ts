import { nullTranslator } from '@jupyterlab/translation';
import { expect, test, vi } from 'vitest';

import { linkNames } from '../src/shared/text_links';
import type { Ui } from '../src/shared/ui_context';
import type { TargetNotebook } from '../src/features/chat/target_notebook';

const TEXT = 'See cell 2 and cell 3, <code>cell 2</code>, <a href="x">cell 2</a>.';

function linked(
  notebook: TargetNotebook | null,
  ui: Partial<Ui> = { showCell: vi.fn() }
): HTMLAnchorElement[] {
  const root = document.createElement('p');
  root.innerHTML = TEXT;
  linkNames(root, TEXT, { trans: nullTranslator.load('onyx_jupyter'), ...ui } as Ui, () => notebook);
  expect(root.textContent).toBe('See cell 2 and cell 3, cell 2, cell 2.');
  return [...root.querySelectorAll<HTMLAnchorElement>('[data-onyx=cell-reference]')];
}

test('a named cell links to its notebook, by id or else by current position', () => {
  const showCell = vi.fn();
  const links = linked({ path: 'sub/a.ipynb', cellIds: ['a1', 'a2'] }, { showCell });
  expect(links.map(link => [link.textContent, link.title])).toEqual([
    ['cell 2', 'Show it in sub/a.ipynb'],
    ['cell 3', 'Show what is now cell 3 of sub/a.ipynb'],
    ['cell 2', 'Show it in sub/a.ipynb']
  ]);
  links.forEach(link => link.click());
  expect(showCell.mock.calls).toEqual([
    ['sub/a.ipynb', 'a2'],
    ['sub/a.ipynb', 3],
    ['sub/a.ipynb', 'a2']
  ]);
});

test('a cell without a known notebook is no link, nor on a page without notebooks', () => {
  expect(linked(null)).toEqual([]);
  expect(linked({ path: 'a.ipynb', cellIds: [] }, {})).toEqual([]);
});
