import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { ModelPicker } from '../src/features/composer/model_picker';
import { TabMemory } from '../src/features/chat/tab_memory';
import type { KeyValueStore } from '../src/features/chat/tab_memory';
import { modelName } from '../src/features/composer/model_choice';
import type { ToolMode } from '../src/features/composer/model_choice';
import type { ModelInfo } from '../src/protocol/wire';
import { drawAnew, host, render } from './drawing';

drawAnew();

const CODER: ModelInfo = {
  id: 'cells/coder',
  provider: 'cells',
  local: false,
  tools: true,
  toolMode: 'cell'
};
const BIG: ModelInfo = { id: 'lab/big', provider: 'lab', local: false, tools: true };

describe('the tool mode of the selected model', () => {
  const choose = vi.fn();
  const chooseToolMode = vi.fn();
  const draw = (chosen: string, toolMode: ToolMode = 'auto', locked = false) =>
    render(
      <ModelPicker
        models={[CODER, { ...BIG, locked }]}
        standard="lab/big"
        chosen={chosen}
        choose={choose}
        toolMode={toolMode}
        chooseToolMode={chooseToolMode}
        connectModel={vi.fn()}
        showLocalModels={vi.fn()}
      />
    );
  const select = () => host.querySelector('select')!;
  const ways = () =>
    [...host.querySelectorAll<HTMLOptionElement>('[data-onyx=acting] option')].map(one => one.textContent);
  const take = (text: string) =>
    act(async () => {
      select().value = [...select().options].find(one => one.textContent === text)!.value;
      select().dispatchEvent(new Event('change', { bubbles: true }));
    });

  beforeEach(() => {
    choose.mockClear();
    chooseToolMode.mockClear();
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
});

it('is stored in the browser per model', () => {
  const kept = new Map<string, string>();
  const store: KeyValueStore = {
    getItem: key => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: key => void kept.delete(key)
  };
  new TabMemory('onyx:', null, store).setToolMode('cells/coder', 'tools');
  const later = new TabMemory('onyx:', null, store);
  expect([later.toolMode('cells/coder'), later.toolMode('lab/big')]).toEqual(['tools', null]);
  store.setItem('onyx:toolMode:lab/big', 'root');
  expect(later.toolMode('lab/big')).toBeNull();
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
