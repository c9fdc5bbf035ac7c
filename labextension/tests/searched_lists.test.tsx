import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import type { ComponentProps } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { SessionListView } from '../src/components/session_list_view';
import { UiProvider } from '../src/components/ui_context';
import type { Ui } from '../src/components/ui_context';
import type { SessionInfo } from '../src/protocol/wire';

let root: Root;
let host: HTMLElement;
const draw = (element: JSX.Element) =>
  act(async () => {
    const ui = { trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui;
    root.render(<UiProvider value={ui}>{element}</UiProvider>);
  });
const hook = (name: string) => host.querySelector<HTMLElement>(`[data-onyx=${name}]`);

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
});

describe('the list of sessions', () => {
  const search = vi.fn<(query: string) => void>();
  const list = (values: Partial<ComponentProps<typeof SessionListView>>) =>
    draw(
      <SessionListView
        {...{ sessions: [], total: 0, isLoading: false, note: null, isWhole: true, problem: null }}
        {...{ current: null, searched: '', open: vi.fn(), close: vi.fn() }}
        {...values}
        search={search}
      />
    );
  const type = (query: string) =>
    act(async () => {
      const field = hook('session-search') as HTMLInputElement;
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, query);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
  const said = () => hook('session-note')?.textContent;

  it('says that there was no time, and not that there is nothing, and searches again when asked to', async () => {
    await list({});
    expect(said()).toBe('No sessions yet');
    await type('nest');
    await list({ searched: 'nest' });
    expect(said()).toBe('Nothing found.');
    expect(hook('session-search-again')).toBeNull();
    await list({ searched: 'nest', isWhole: false, note: 'There was no time.' });
    expect(said()).toBe('Nothing found so far.There was no time.Search again');
    expect(hook('session-note')!.getAttribute('role')).toBe('status');
    await act(async () => hook('session-search-again')!.click());
    expect(search).toHaveBeenLastCalledWith('nest');
  });

  it('says beside what was found that words alone were searched', async () => {
    const session = { sessionKey: 's', title: 'Birds', updatedAt: '' } as SessionInfo;
    await list({ sessions: [session], total: 1, searched: 'nest', note: 'Words alone were searched.' });
    expect(said()).toBe('Words alone were searched.');
  });
});
