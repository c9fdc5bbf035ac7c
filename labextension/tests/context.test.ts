import { describe, expect, it, vi } from 'vitest';
import { nullTranslator } from '@jupyterlab/translation';

import { cellRequest, cellRequestMode } from '../src/features/cell_actions/cell_requests';
import { ContextChips, MAX_CHIPS } from '../src/features/composer/chosen_context';
import {
  asItems,
  asContextItem,
  asContextItems,
  itemKey,
  itemName,
  itemPlace,
  formatNames,
  formatTokens
} from '../src/features/composer/context_items';
import { draggedItems } from '../src/features/composer/dragged_items';
import { TabMemory } from '../src/features/chat/tab_memory';
import type { KeyValueStore } from '../src/features/chat/tab_memory';
import type { ContextItem } from '../src/protocol/wire';

const trans = nullTranslator.load('onyx_jupyter');
const CELL: ContextItem = { type: 'cell', path: 'a/plot.ipynb', cellId: 'c4', label: 'cell 4' };
const DF: ContextItem = { type: 'variable', path: 'a/plot.ipynb', name: 'df' };
const NOTE: ContextItem = {
  type: 'memory',
  path: 'memory/2026-01-05.md',
  startLine: 12,
  endLine: 14,
  text: 'x'
};
const LINES: ContextItem = {
  type: 'selection',
  path: 'src/train.py',
  text: 'def f(): ...',
  startLine: 3,
  endLine: 5
};

class Store implements KeyValueStore {
  readonly values = new Map<string, string>();
  getItem = (key: string) => this.values.get(key) ?? null;
  setItem = (key: string, value: string) => void this.values.set(key, value);
  removeItem = (key: string) => void this.values.delete(key);
}
const memoryOn = (store: KeyValueStore | null) => new TabMemory('onyx:', store, store);

describe('attached context', () => {
  it('has a short and a full display name', () => {
    const names = (item: ContextItem) => [itemName(item, trans), itemPlace(item, trans)];
    expect(names(CELL)).toEqual(['cell 4', 'cell 4 · a/plot.ipynb']);
    expect(names({ ...CELL, type: 'error' })).toEqual(['Error in cell 4', 'Error in cell 4 · a/plot.ipynb']);
    expect(names(DF)).toEqual(['df', 'df · a/plot.ipynb']);
    expect(names(LINES)).toEqual(['train.py:3–5', 'src/train.py · lines 3–5']);
    expect(names({ ...LINES, endLine: 3 })).toEqual(['train.py:3', 'src/train.py · line 3']);
    expect(names({ ...LINES, ...CELL, type: 'selection' })[0]).toBe('Selection in cell 4');
    expect(names({ type: 'file', path: 'data/t.csv' })).toEqual(['t.csv', 'data/t.csv']);
    expect(names(NOTE)).toEqual(['2026-01-05.md:12–14', 'memory/2026-01-05.md · lines 12–14']);
    expect(formatNames([NOTE, CELL, { ...NOTE, startLine: 20, endLine: 20 }], trans)).toBe(
      'cell 4 · memory · 2026-01-05.md:12–14 · 2026-01-05.md:20'
    );
    expect(formatNames([CELL, DF], trans)).toBe('cell 4 · df');
  });

  it('is requested by reference, without stale text except for a selection', () => {
    expect(asContextItem({ ...CELL, text: 'old', tokens: 9, problem: 'none' })).not.toHaveProperty('text');
    expect(asContextItem({ ...CELL, text: 'old', tokens: 9 })).not.toHaveProperty('tokens');
    expect(asContextItem({ ...LINES, tokens: 9 })).toMatchObject(LINES);
  });

  it('is requested again only if the user attached it: memory is recalled automatically', () => {
    expect(asContextItems([NOTE, CELL])).toEqual([asContextItem(CELL)]);
    expect(asItems([NOTE, DF])).toEqual([asContextItem(DF)]);
  });

  it('is the same item with another text, except for a selection', () => {
    expect(itemKey(NOTE)).not.toBe(itemKey({ ...NOTE, endLine: 15 }));
    expect(itemKey({ ...CELL, text: 'a', label: 'cell 5' })).toBe(itemKey(CELL));
    expect(itemKey({ ...LINES, text: 'other' })).not.toBe(itemKey(LINES));
    expect(itemKey({ ...CELL, type: 'error' })).not.toBe(itemKey(CELL));
  });

  it('abbreviates token counts', () => {
    expect([1, 420, 1234, 12_345].map(count => formatTokens(count, trans))).toEqual([
      '~1 token',
      '~420 tokens',
      '~1.2k tokens',
      '~12k tokens'
    ]);
  });

  it('is restored from storage as far as it is valid', () => {
    expect(asItems('x')).toEqual([]);
    expect(asItems([null, 3, { type: 'cell' }, DF])).toEqual([asContextItem(DF)]);
  });
});

describe('context chips of a draft', () => {
  it('are added once, removed, and remembered per session', () => {
    const store = new Store();
    const chips = new ContextChips(memoryOn(store), 's1');
    chips.add(CELL);
    chips.add({ ...CELL, label: 'cell 9' });
    chips.add(DF);
    expect(chips.items).toEqual([CELL, DF]);
    chips.open('s2');
    expect(chips.items).toEqual([]);
    chips.add(LINES);
    chips.open('s1');
    expect(chips.items.map(itemKey)).toEqual([CELL, DF].map(itemKey));
    chips.remove(DF);
    expect(new ContextChips(memoryOn(store), 's1').items.map(itemKey)).toEqual([itemKey(CELL)]);
    expect(new ContextChips(memoryOn(store), 's2').items.map(itemKey)).toEqual([itemKey(LINES)]);
  });

  it('move to the new session when it gets its key', () => {
    const store = new Store();
    const chips = new ContextChips(memoryOn(store), null);
    chips.add(CELL);
    chips.named('s1');
    expect(chips.items).toEqual([CELL]);
    expect(new ContextChips(memoryOn(store), null).items).toEqual([]);
    expect(new ContextChips(memoryOn(store), 's1').items.map(itemKey)).toEqual([itemKey(CELL)]);
  });

  it('signal changes, and report when there are too many', () => {
    const chips = new ContextChips(memoryOn(null), null);
    const seen = vi.fn();
    chips.changed.connect(seen);
    for (let number = 0; number < MAX_CHIPS; number += 1) {
      expect(chips.add({ ...DF, name: `x${number}` })).toBe(true);
    }
    expect(chips.add(CELL)).toBe(false);
    expect(chips.items).toHaveLength(MAX_CHIPS);
    expect(seen).toHaveBeenCalledTimes(MAX_CHIPS);
    chips.clear();
    expect(chips.items).toEqual([]);
  });

  it('are empty if the stored value is invalid', () => {
    const store = new Store();
    store.values.set('onyx:chips:s1', '{');
    expect(new ContextChips(memoryOn(store), 's1').items).toEqual([]);
  });
});

describe('one click on a cell', () => {
  it('names the cell, and the error if there is one', () => {
    expect(cellRequest('explain', CELL, trans)).toBe('Explain cell 4.');
    expect(cellRequest('explain', { ...CELL, type: 'error' }, trans)).toBe('Explain the error in cell 4.');
    expect(cellRequest('explain-output', CELL, trans)).toBe('Explain what cell 4 shows.');
    expect(cellRequest('fix', { ...CELL, type: 'error' }, trans)).toBe('Fix the error in cell 4.');
  });

  it('explains without changing anything even in Auto, and fixes even in Ask', () => {
    expect(cellRequestMode('explain', 'auto', false)).toBe('ask');
    expect(cellRequestMode('fix', 'ask', false)).toBe('agent');
    expect(cellRequestMode('improve', 'auto', false)).toBe('auto');
  });

  it('does not restrict a run that it joins', () => {
    expect(cellRequestMode('explain', 'agent', true)).toBe('agent');
  });
});

describe('dragged items', () => {
  const model = (id: string) => ({ id, type: 'code', sharedModel: { getSource: () => 'x' } });
  const cells = [{ model: model('c1') }, { model: model('c2') }];
  const panel = { content: { widgets: cells }, context: { path: 'plot.ipynb' } };
  const notebooks = { find: (fits: (one: typeof panel) => boolean) => (fits(panel) ? panel : undefined) };
  const drag = (data: Record<string, unknown>) => ({
    hasData: (mime: string) => mime in data,
    getData: (mime: string) => data[mime]
  });
  const dragged = (data: Record<string, unknown>) => draggedItems(drag(data), notebooks as never, trans);

  it('are cells by id, with their notebook', () => {
    const found = dragged({ 'application/vnd.jupyter.cells': [{}], 'internal:cells': [cells[1]] });
    expect(found).toEqual([{ type: 'cell', path: 'plot.ipynb', cellId: 'c2', label: 'cell 2' }]);
  });

  it('are files and notebooks by path', () => {
    const found = dragged({ 'application/x-jupyter-icontents': ['RTC:a/b.ipynb', 'a/t.csv'] });
    expect(found).toEqual([
      { type: 'notebook', path: 'a/b.ipynb' },
      { type: 'file', path: 'a/t.csv' }
    ]);
  });

  it('are ignored if dragged from elsewhere', () => {
    expect(dragged({ 'text/plain': 'x' })).toEqual([]);
    expect(dragged({ 'application/vnd.jupyter.cells': [{}], 'internal:cells': [{}] })).toEqual([]);
  });
});
