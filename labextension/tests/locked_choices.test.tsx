import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { ModePicker } from '../src/features/composer/mode_picker';
import { ModelPicker } from '../src/features/composer/model_picker';
import { allowedMode } from '../src/features/composer/mode';
import type { ModelInfo } from '../src/protocol/wire';
import { drawAnew, host, render } from './drawing';

// JupyterLab's components do not load outside of a browser; of them only icons are used here.
vi.mock('@jupyterlab/ui-components', () => ({
  caretDownEmptyIcon: { react: () => null },
  checkIcon: { react: () => <i data-icon="check" /> },
  lockIcon: { react: () => <i data-icon="lock" /> }
}));

drawAnew();

const chooseMode = vi.fn();

const modes = () => [...host.querySelectorAll<HTMLElement>('[data-onyx=mode]')];

beforeEach(() => {
  chooseMode.mockReset();
});

describe('a disallowed mode', () => {
  it('is locked with a reason, and cannot be clicked', async () => {
    await render(<ModePicker mode="agent" allowedModes={['ask', 'agent']} chooseMode={chooseMode} />);
    await act(async () => host.querySelector<HTMLElement>('[data-onyx=mode-picker]')!.click());
    expect(modes().map(item => item.getAttribute('aria-disabled'))).toEqual([null, null, 'true']);
    expect(modes()[2].textContent).toBe('AutoNot allowed on this server');
    expect(modes()[2].querySelector('[data-icon=lock]')).not.toBeNull();
    expect(modes()[1].querySelector('[data-icon=lock]')).toBeNull();
    await act(async () => modes()[2].click());
    expect(chooseMode).not.toHaveBeenCalled();
    expect(modes()).toHaveLength(3);
    await act(async () => modes()[0].click());
    expect(chooseMode).toHaveBeenCalledWith('ask');
  });

  it('falls back to the next stricter one', () => {
    expect(allowedMode('auto', ['ask', 'agent', 'auto'])).toBe('auto');
    expect(allowedMode('auto', ['ask', 'agent'])).toBe('agent');
    expect(allowedMode('auto', ['ask'])).toBe('ask');
    expect(allowedMode('agent', ['ask', 'auto'])).toBe('ask');
    expect(allowedMode('agent', [])).toBe('ask');
  });
});

describe('a disallowed model', () => {
  it('cannot be selected, and its provider says why', async () => {
    const info = (id: string, locked: boolean): ModelInfo => ({
      id,
      provider: id.split('/')[0],
      local: false,
      tools: true,
      locked
    });
    await render(
      <ModelPicker
        models={[info('local/qwen2.5-coder-1.5b', false), info('lab/big', true)]}
        standard="local/qwen2.5-coder-1.5b"
        chosen={null}
        choose={vi.fn()}
        toolMode="auto"
        chooseToolMode={vi.fn()}
        effort={null}
        chooseEffort={vi.fn()}
        connectModel={vi.fn()}
        showLocalModels={vi.fn()}
      />
    );
    const [local, lab] = host.querySelectorAll('optgroup');
    expect([local.label, lab.label]).toEqual(['local', 'lab – Not allowed on this server']);
    const [open, locked] = [local, lab].map(group => group.querySelector('option')!);
    expect([open.disabled, locked.disabled]).toEqual([false, true]);
    expect(locked.getAttribute('aria-disabled')).toBe('true');
  });
});
