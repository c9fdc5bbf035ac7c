import { nullTranslator } from '@jupyterlab/translation';
import { act, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Composer } from '../src/features/composer/composer';
import type { ComposerProps } from '../src/features/composer/composer';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { MentionOption, MentionSources } from '../src/features/composer/mentions';
import type { ContextItem, SentItem } from '../src/protocol/wire';

// JupyterLab's components do not load outside of a browser; of them only icons are used here.
vi.mock('@jupyterlab/ui-components', () => {
  const icon = { react: () => null };
  const names = [
    'addIcon',
    'caretDownEmptyIcon',
    'caretDownIcon',
    'caretRightIcon',
    'checkIcon',
    'closeIcon',
    'lockIcon'
  ];
  return Object.fromEntries([...names, 'stopIcon'].map(name => [name, icon]));
});

const trans = nullTranslator.load('onyx_jupyter');
const variable = (name: string): MentionOption => ({
  section: 'variables',
  name,
  item: { type: 'variable', path: 'plot.ipynb', name }
});
const CELL: ContextItem = { type: 'cell', path: 'plot.ipynb', cellId: 'c4', label: 'cell 4' };
const SEEN: SentItem = { ...CELL, text: '--- code\n6 * 7', tokens: 12 };

let root: Root;
let host: HTMLElement;
let props: Partial<ComposerProps>;
const calls = { send: vi.fn(), addContext: vi.fn(), editLast: vi.fn(), expectInput: vi.fn() };
const sources: MentionSources = {
  now: () => [{ section: 'cells', name: 'df.plot()', detail: 'cell 4', item: CELL }],
  variables: () => Promise.resolve([variable('df'), variable('model')]),
  files: folder =>
    Promise.resolve<MentionOption[]>(
      folder === 'data/'
        ? [{ section: 'files', name: 'table.csv', item: { type: 'file', path: 'data/table.csv' } }]
        : [{ section: 'files', name: 'data/', completion: 'data/' }]
    )
};

function Page(): JSX.Element {
  const [text, setText] = useState('');
  const standard = {
    ...calls,
    text,
    setText,
    chips: [],
    offered: null,
    look: () => Promise.resolve(SEEN),
    mentions: sources,
    usage: { inputTokens: 0, outputTokens: 0 },
    focusRequest: 0,
    online: true,
    standard: 'local/small',
    chosen: null,
    models: [],
    mode: 'agent',
    allowedModes: ['ask', 'agent', 'auto']
  };
  return (
    <UiProvider value={{ trans } as unknown as Ui}>
      <Composer {...({ ...standard, ...props } as unknown as ComposerProps)} />
    </UiProvider>
  );
}

const find = <E extends HTMLElement>(hook: string) => host.querySelector<E>(`[data-onyx=${hook}]`);
const all = (hook: string) => [...host.querySelectorAll<HTMLElement>(`[data-onyx=${hook}]`)];
const input = () => find<HTMLTextAreaElement>('input')!;
const draw = () => act(async () => root.render(<Page />));

/** What a browser does as one types: the text, then where the caret is. */
const write = (text: string) =>
  act(async () => {
    const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!.set!;
    set.call(input(), text);
    input().setSelectionRange(text.length, text.length);
    input().dispatchEvent(new Event('input', { bubbles: true }));
  });
const press = (key: string) =>
  act(async () => {
    input().dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });
const active = () => find('mention-menu')?.querySelector('[aria-selected=true]')?.textContent;

beforeEach(async () => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {}
      disconnect() {}
    }
  );
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
  props = {};
  Object.values(calls).forEach(call => call.mockReset());
  await draw();
  await act(async () => input().focus());
});

afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
  vi.unstubAllGlobals();
});

describe('the input is ready for a draft', () => {
  it('when focused, empty and idle, and announces it each time', async () => {
    const times = () => calls.expectInput.mock.calls.length;
    expect(times()).toBe(1);
    await write('W');
    await write('');
    expect(times()).toBe(2);
    props = { running: true };
    await draw();
    expect(times()).toBe(2);
    props = {};
    await draw();
    expect(times()).toBe(3);
    props = { online: false, standard: null };
    await draw();
    props = { standard: null };
    await draw();
    expect(times()).toBe(3);
    props = {};
    await draw();
    expect(times()).toBe(4);
    props = { chips: [{ item: { type: 'notebook', path: 'a.ipynb' }, remove: () => undefined }] };
    await draw();
    expect(times()).toBe(5);
    await act(async () => input().blur());
    props = { running: true };
    await draw();
    props = {};
    await draw();
    expect(times()).toBe(5);
  });
});

describe('the @ menu', () => {
  it('is a listbox controlled by the input', async () => {
    await write('Explain @');
    expect(find('mention-menu')!.getAttribute('role')).toBe('listbox');
    expect(input().getAttribute('aria-controls')).toBe(find('mention-menu')!.id);
    expect(all('mention').map(one => one.getAttribute('role'))).toEqual(Array(4).fill('option'));
    const marked = () => document.getElementById(input().getAttribute('aria-activedescendant')!);
    expect(marked()?.textContent).toContain('df.plot()');
    await press('ArrowDown');
    expect(marked()?.textContent).toBe('df');
    await press('ArrowUp');
    await press('ArrowUp');
    expect(active()).toBe('data/');
  });

  it('narrows while typing; Enter attaches the item and removes the @ from the text', async () => {
    await write('Explain @mod');
    expect(all('mention').map(one => one.textContent)).toEqual(['model']);
    await press('Enter');
    expect(calls.addContext).toHaveBeenCalledWith(variable('model').item);
    expect(calls.send).not.toHaveBeenCalled();
    expect(input().value).toBe('Explain ');
    expect(find('mention-menu')).toBeNull();
  });

  it('continues inside a folder', async () => {
    await write('@dat');
    await press('Tab');
    expect(input().value).toBe('@data/');
    expect(all('mention').map(one => one.textContent)).toEqual(['table.csv']);
    await press('Tab');
    expect(calls.addContext).toHaveBeenCalledWith({ type: 'file', path: 'data/table.csv' });
    expect(input().value).toBe('');
  });

  it('closes on Escape, keeps the text, and Enter sends again', async () => {
    await write('@df');
    await press('Escape');
    expect(find('mention-menu')).toBeNull();
    await press('Enter');
    expect(calls.send).toHaveBeenCalled();
    expect(calls.addContext).not.toHaveBeenCalled();
    expect(input().value).toBe('@df');
  });

  it('says that nothing matches, and does not interfere with further typing', async () => {
    await write('Mail @nobody');
    expect(find('mention-menu')!.textContent).toContain('Nothing here is called “nobody”');
    await write('Mail @nobody about it');
    expect(find('mention-menu')).toBeNull();
    await press('Enter');
    expect(calls.send).toHaveBeenCalled();
  });

  it('opens by its button, and a click selects', async () => {
    await write('Explain');
    await act(async () => find('add-context')!.click());
    expect(input().value).toBe('Explain @');
    await act(async () => all('mention')[1].click());
    expect(calls.addContext).toHaveBeenCalledWith(variable('df').item);
    expect(input().value).toBe('Explain ');
  });

  it('is closed during IME composition and on blur', async () => {
    await write('@df');
    await act(async () => input().blur());
    expect(find('mention-menu')).toBeNull();
  });
});

describe('a context chip', () => {
  it('shows the exact text and its tokens, and can be removed', async () => {
    const remove = vi.fn();
    props = { chips: [{ item: CELL, remove }] };
    await draw();
    expect(find('chip-name')!.textContent).toBe('cell 4');
    expect(find('chip-name')!.title).toBe('cell 4 · plot.ipynb · ~12 tokens\n\n--- code\n6 * 7');
    await act(async () => find('chip-name')!.click());
    expect(find('chip-preview')!.querySelector('pre')!.textContent).toBe('--- code\n6 * 7');
    expect(find('sent-tokens')!.textContent).toBe('~12 tokens');
    await act(async () => find('chip-remove')!.click());
    expect(remove).toHaveBeenCalled();
  });

  it('says why it would not be sent', async () => {
    const look = () => Promise.resolve({ ...SEEN, text: '[Not sent]', problem: 'It lies outside.' });
    props = { chips: [{ item: CELL, remove: () => undefined }], look };
    await draw();
    expect(find('chip')!.className).toContain('onyx-mod-problem');
    await act(async () => find('chip-name')!.click());
    expect(find('chip-preview')!.textContent).toContain('It lies outside.');
  });
});
