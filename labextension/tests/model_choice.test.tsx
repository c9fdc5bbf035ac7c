import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { isRun } from '../src/features/chat/conversation';
import { Session } from '../src/features/chat/session';
import { ModelPicker } from '../src/features/composer/model_picker';
import { TabMemory } from '../src/features/chat/tab_memory';
import type { KeyValueStore } from '../src/features/chat/tab_memory';
import { modelName } from '../src/features/composer/model_choice';
import type { Effort, ToolMode } from '../src/features/composer/model_choice';
import type { ModelInfo } from '../src/protocol/wire';
import { drawAnew, host, render } from './drawing';
import { Peer, settle } from './peer';

drawAnew();

function browserStore(): KeyValueStore {
  const kept = new Map<string, string>();
  return {
    getItem: key => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: key => void kept.delete(key)
  };
}

const CODER: ModelInfo = {
  id: 'cells/coder',
  provider: 'cells',
  local: false,
  tools: true,
  toolMode: 'cell'
};
const THINKER: ModelInfo = {
  id: 'openai/deep',
  provider: 'openai',
  local: false,
  tools: true,
  efforts: ['none', 'low', 'xhigh']
};
const BIG: ModelInfo = { id: 'lab/big', provider: 'lab', local: false, tools: true };

describe('how the selected model acts and thinks', () => {
  const choose = vi.fn();
  const chooseToolMode = vi.fn();
  const chooseEffort = vi.fn();
  const draw = (chosen: string, toolMode: ToolMode = 'auto', locked = false, effort: Effort | null = null) =>
    render(
      <ModelPicker
        models={[CODER, { ...BIG, locked }, THINKER]}
        standard="lab/big"
        chosen={chosen}
        choose={choose}
        toolMode={toolMode}
        chooseToolMode={chooseToolMode}
        effort={effort}
        chooseEffort={chooseEffort}
        connectModel={vi.fn()}
        showLocalModels={vi.fn()}
      />
    );
  const select = () => host.querySelector('select')!;
  const ways = () =>
    [...host.querySelectorAll<HTMLOptionElement>('[data-onyx=acting] option')].map(one => one.textContent);
  const efforts = () =>
    [...host.querySelectorAll<HTMLOptionElement>('[data-onyx=effort] option')].map(one => one.textContent);
  const take = (text: string) =>
    act(async () => {
      select().value = [...select().options].find(one => one.textContent === text)!.value;
      select().dispatchEvent(new Event('change', { bubbles: true }));
    });

  beforeEach(() => {
    choose.mockClear();
    chooseToolMode.mockClear();
    chooseEffort.mockClear();
  });

  it('is shown in the picker, and can be switched without changing the model', async () => {
    await draw('cells/coder');
    expect(select().title).toBe('Model: cells/coder · Acts in cells');
    expect(select().selectedOptions[0].textContent).toBe('coder · in cells');
    expect(ways()).toEqual(['✓ Acts in cells (standard)', 'Calls tools']);
    await take('Calls tools');
    expect(chooseToolMode.mock.calls).toEqual([['tools']]);
    expect(choose).not.toHaveBeenCalled();
  });

  it('is the user’s choice, and can be reset', async () => {
    await draw('cells/coder', 'tools');
    expect(select().title).toBe('Model: cells/coder · Calls tools');
    expect(select().selectedOptions[0].textContent).toBe('coder');
    expect(ways()).toEqual(['Acts in cells (standard)', '✓ Calls tools']);
    await take('Acts in cells (standard)');
    expect(chooseToolMode.mock.calls).toEqual([['auto']]);
    await draw('lab/big', 'cell');
    expect(ways()).toEqual(['✓ Acts in cells', 'Calls tools (standard)']);
  });

  it('is not offered for a disallowed or unknown model', async () => {
    await draw('lab/big', 'auto', true);
    expect(ways()).toEqual([]);
    await draw('gone/away');
    expect(ways()).toEqual([]);
  });

  it('offers the efforts of a model that thinks, and shows the chosen one beside its name', async () => {
    await draw('lab/big');
    expect(efforts()).toEqual([]);
    await draw('openai/deep');
    expect(efforts()).toEqual(['✓ As its provider has it', 'No thinking', 'Low effort', 'Extra high effort']);
    await take('Low effort');
    expect(chooseEffort.mock.calls).toEqual([['low']]);
    expect(choose).not.toHaveBeenCalled();
    await draw('openai/deep', 'auto', false, 'low');
    expect(select().title).toBe('Model: openai/deep · Calls tools · Low effort');
    expect(select().selectedOptions[0].textContent).toBe('deep · Low effort');
    await take('As its provider has it');
    expect(chooseEffort.mock.lastCall).toEqual([null]);
  });

  it('shows no effort that the model does not offer, and none where it acts in cells', async () => {
    await draw('openai/deep', 'auto', false, 'max');
    expect(select().selectedOptions[0].textContent).toBe('deep');
    await draw('openai/deep', 'cell', false, 'low');
    expect([efforts(), select().selectedOptions[0].textContent]).toEqual([[], 'deep · in cells']);
  });
});

it('an effort is sent with its message and with a repetition', async () => {
  const peer = new Peer();
  peer.results = {
    'sessions.create': { sessionKey: 's' },
    'sessions.subscribe': { seq: 0 },
    'chat.send': () => ({ runId: `r${peer.askedFor('chat.send').length}` })
  };
  const session = new Session({
    client: peer.client,
    events: peer.events,
    nowMs: () => 0,
    onFrame: () => () => undefined
  });
  peer.connect();
  await settle();
  session.send('one', [], undefined, undefined, 'agent', { effort: 'low' });
  session.send('two');
  await settle();
  session.retry(session.items.filter(isRun)[0], undefined, { effort: 'xhigh' });
  await settle();
  expect(peer.askedFor('chat.send').map(one => one.effort)).toEqual(['low', null, 'xhigh']);
  session.dispose();
});

it('is stored in the browser per model', () => {
  const store = browserStore();
  new TabMemory('onyx:', null, store).setToolMode('cells/coder', 'tools');
  const later = new TabMemory('onyx:', null, store);
  expect([later.toolMode('cells/coder'), later.toolMode('lab/big')]).toEqual(['tools', null]);
  store.setItem('onyx:toolMode:lab/big', 'root');
  expect(later.toolMode('lab/big')).toBeNull();
  later.setEffort('openai/deep', 'xhigh');
  expect([later.effort('openai/deep'), later.effort('lab/big')]).toEqual(['xhigh', null]);
  later.setEffort('openai/deep', null);
  expect(later.effort('openai/deep')).toBeNull();
});

describe('modelName', () => {
  it.each([
    ['openai/gpt-x', 'gpt-x'],
    ['openrouter/qwen/qwen3-coder', 'qwen/qwen3-coder'],
    ['local/qwen2.5-coder-1.5b', 'qwen2.5-coder-1.5b'],
    ['local//home/me/models/qwen-1.5b.gguf', 'qwen-1.5b']
  ])('calls %s %s', (id, name) => {
    expect(modelName(id)).toBe(name);
  });
});
