import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { ChatModel } from '../src/features/chat/chat_model';
import type { LocalModels } from '../src/features/local_models/local_models';
import { ViewState } from '../src/features/chat/view_state';
import { AllLocalModels, OfferedModel } from '../src/features/local_models/local_model_parts';
import { fetchable, localModel } from './local_model';
import type { Peer } from './peer';

// JupyterLab's components do not load outside of a browser; of them only an icon is used here.
vi.mock('@jupyterlab/ui-components', () => ({ closeIcon: { react: () => null } }));

const MODEL = localModel();
const ui = { trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui;
const chooseModel = vi.fn();
let root: Root;
let host: HTMLElement;
let peer: Peer;
let localModels: LocalModels;
let view: ViewState;
const draw = (element: JSX.Element) =>
  act(async () => root.render(<UiProvider value={ui}>{element}</UiProvider>));
const parts = () => ({
  localModels,
  view,
  client: peer.client,
  chat: { chooseModel } as unknown as ChatModel
});
const hook = (name: string) => host.querySelector<HTMLButtonElement>(`[data-onyx=${name}]`);
const click = (name: string) => act(async () => hook(name)?.click());
const progress = (more: object) =>
  act(async () => {
    peer.emit('local_models.progress', { ...MODEL, ...more });
    await Promise.resolve();
  });

beforeEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  chooseModel.mockClear();
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
  view = new ViewState();
  ({ peer, localModels } = await fetchable(MODEL));
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
  localModels.dispose();
  peer.client.dispose();
});

it('a model downloaded with one click answers when ready, and the offer disappears', async () => {
  await draw(<OfferedModel {...parts()} />);
  await click('offer-fetch');
  expect(peer.askedFor('local_models.fetch')).toEqual([{ id: MODEL.id }]);
  await progress({ state: 'fetching', doneBytes: MODEL.bytes / 2 });
  expect(host.querySelector('progress')?.value).toBe(50);
  expect(chooseModel).not.toHaveBeenCalled();
  await progress({ state: 'ready', doneBytes: MODEL.bytes });
  expect(chooseModel.mock.calls).toEqual([[MODEL.id]]);
  expect(host.textContent).toBe('');
});

it('a model downloaded by someone else is not selected for this user', async () => {
  await draw(<OfferedModel {...parts()} />);
  await progress({ state: 'ready', doneBytes: MODEL.bytes });
  expect(chooseModel).not.toHaveBeenCalled();
  expect(host.textContent).toBe('');
});

it('the offer opens the panel, and Escape returns to the input', async () => {
  await draw(<OfferedModel {...parts()} />);
  await click('offer-all');
  expect(view.panel).toBe('local');
  await draw(<AllLocalModels {...parts()} />);
  await act(async () =>
    hook('local-models-panel')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
  );
  expect([view.panel, view.focusRequest]).toEqual(['conversation', 1]);
});
