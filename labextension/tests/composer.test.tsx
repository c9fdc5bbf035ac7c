import { act, useState } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Composer } from '../src/features/composer/composer';
import type { ComposerProps } from '../src/features/composer/composer';
import type { MentionOption, MentionSources } from '../src/features/composer/mentions';
import type { ContextItem, SentItem } from '../src/protocol/wire';
import { all, drawAnew, part, render } from './drawing';

drawAnew();

const variable = (name: string): MentionOption => ({
  section: 'variables',
  name,
  item: { type: 'variable', path: 'plot.ipynb', name }
});

const CELL: ContextItem = { type: 'cell', path: 'plot.ipynb', cellId: 'c4', label: 'cell 4' };
const SEEN: SentItem = { ...CELL, text: '--- code\n6 * 7', tokens: 12 };

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
  return <Composer {...({ ...standard, ...props } as unknown as ComposerProps)} />;
}

const input = () => part<HTMLTextAreaElement>('input')!;
const draw = () => render(<Page />);

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
const active = () => part('mention-menu')?.querySelector('[aria-selected=true]')?.textContent;

beforeEach(async () => {
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe() {}
      disconnect() {}
    }
  );
  props = {};
  Object.values(calls).forEach(call => call.mockReset());
  await draw();
  await act(async () => input().focus());
});

afterEach(async () => {
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
    expect(part('mention-menu')!.getAttribute('role')).toBe('listbox');
    expect(input().getAttribute('aria-controls')).toBe(part('mention-menu')!.id);
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
    expect(part('mention-menu')).toBeNull();
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
    expect(part('mention-menu')).toBeNull();
    await press('Enter');
    expect(calls.send).toHaveBeenCalled();
    expect(calls.addContext).not.toHaveBeenCalled();
    expect(input().value).toBe('@df');
  });

  it('says that nothing matches, and does not interfere with further typing', async () => {
    await write('Mail @nobody');
    expect(part('mention-menu')!.textContent).toContain('Nothing here is called “nobody”');
    await write('Mail @nobody about it');
    expect(part('mention-menu')).toBeNull();
    await press('Enter');
    expect(calls.send).toHaveBeenCalled();
  });

  it('opens by its button, and a click selects', async () => {
    await write('Explain');
    await act(async () => part('add-context')!.click());
    expect(input().value).toBe('Explain @');
    await act(async () => all('mention')[1].click());
    expect(calls.addContext).toHaveBeenCalledWith(variable('df').item);
    expect(input().value).toBe('Explain ');
  });

  it('is closed during IME composition and on blur', async () => {
    await write('@df');
    await act(async () => input().blur());
    expect(part('mention-menu')).toBeNull();
  });
});

describe('a context chip', () => {
  it('shows the exact text and its tokens, and can be removed', async () => {
    const remove = vi.fn();
    props = { chips: [{ item: CELL, remove }] };
    await draw();
    expect(part('chip-name')!.textContent).toBe('cell 4');
    expect(part('chip-name')!.title).toBe('cell 4 · plot.ipynb · ~12 tokens\n\n--- code\n6 * 7');
    await act(async () => part('chip-name')!.click());
    expect(part('chip-preview')!.querySelector('pre')!.textContent).toBe('--- code\n6 * 7');
    expect(part('sent-tokens')!.textContent).toBe('~12 tokens');
    await act(async () => part('chip-remove')!.click());
    expect(remove).toHaveBeenCalled();
  });

  it('says why it would not be sent', async () => {
    const look = () => Promise.resolve({ ...SEEN, text: '[Not sent]', problem: 'It lies outside.' });
    props = { chips: [{ item: CELL, remove: () => undefined }], look };
    await draw();
    expect(part('chip')!.className).toContain('onyx-mod-problem');
    await act(async () => part('chip-name')!.click());
    expect(part('chip-preview')!.textContent).toContain('It lies outside.');
  });
});
