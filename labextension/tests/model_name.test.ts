import { describe, expect, it } from 'vitest';

import { modelName } from '../src/features/composer/model_name';

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
