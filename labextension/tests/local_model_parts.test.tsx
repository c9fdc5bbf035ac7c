import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { ChatModel } from '../src/features/chat/chat_model';
import type { LocalModels } from '../src/features/local_models/local_models';
import { ViewState } from '../src/features/chat/view_state';
import { AllLocalModels, OfferedModel } from '../src/features/local_models/local_model_parts';
import { fetchable, localModel } from './local_model';
import type { Peer } from './peer';
import { click, drawAnew, host, part, render } from './drawing';

drawAnew();

const MODEL = localModel();
const chooseModel = vi.fn();
let peer: Peer;
let localModels: LocalModels;
let view: ViewState;
const parts = () => ({
  localModels,
  view,
  client: peer.client,
  chat: { chooseModel } as unknown as ChatModel
});

const progress = (more: object) =>
  act(async () => {
    peer.emit('local_models.progress', { ...MODEL, ...more });
    await Promise.resolve();
  });

beforeEach(async () => {
  chooseModel.mockClear();
  view = new ViewState();
  ({ peer, localModels } = await fetchable(MODEL));
});
afterEach(async () => {
  localModels.dispose();
  peer.client.dispose();
});

it('a model downloaded with one click answers when ready, and the offer disappears', async () => {
  await render(<OfferedModel {...parts()} />);
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
  await render(<OfferedModel {...parts()} />);
  await progress({ state: 'ready', doneBytes: MODEL.bytes });
  expect(chooseModel).not.toHaveBeenCalled();
  expect(host.textContent).toBe('');
});

it('the offer opens the panel, and Escape returns to the input', async () => {
  await render(<OfferedModel {...parts()} />);
  await click('offer-all');
  expect(view.panel).toBe('local');
  await render(<AllLocalModels {...parts()} />);
  await act(async () =>
    part('local-models-panel')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
  );
  expect([view.panel, view.focusRequest]).toEqual(['conversation', 1]);
});
