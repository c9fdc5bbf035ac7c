import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { LocalModelOffer } from '../src/features/local_models/local_model_offer';
import { LocalModelsPanel } from '../src/features/local_models/local_models_panel';
import { ModelPicker } from '../src/features/composer/model_picker';
import type { LocalModelInfo } from '../src/protocol/wire';
import { localModel } from './local_model';
import { click, drawAnew, host, part, render } from './drawing';

drawAnew();

const acts = { fetch: vi.fn(), pause: vi.fn(), remove: vi.fn(), close: vi.fn(), open: vi.fn() };
const panel = (
  models: LocalModelInfo[] | null,
  more: { problem?: string; refusal?: string; online?: boolean } = {}
) =>
  render(
    <LocalModelsPanel
      models={models}
      problem={null}
      refusal={null}
      dismissRefusal={() => undefined}
      online={true}
      {...acts}
      {...more}
    />
  );
const buttons = () => [...host.querySelectorAll('li button')].map(one => one.textContent);

beforeEach(() => {
  Object.values(acts).forEach(one => one.mockClear());
});

describe('the panel', () => {
  it('loads when it opens, and shows size, licence and state of each model', async () => {
    await panel([localModel(), localModel({ id: 'local/small', title: 'Small', recommended: false })]);
    expect(acts.open).toHaveBeenCalledOnce();
    const [first, second] = [...host.querySelectorAll('[data-onyx=local-model]')].map(one => one.textContent);
    expect(first).toContain(
      'Big 1.5B recommended1.12 GB · Apache-2.0 · 1.5 billion parametersNot on this machine'
    );
    expect(second).not.toContain('recommended');
    expect(document.activeElement).toBe(part('local-models-panel'));
  });

  it.each([
    [{}, ['Download']],
    [{ state: 'failed', error: 'No source gave it.' }, ['Try again']],
    [{ state: 'fetching', doneBytes: 5 }, ['Pause', 'Discard']],
    [{ state: 'fetching', doneBytes: 5, fetcher: 'another process (7)' }, []],
    [{ state: 'paused', doneBytes: 5 }, ['Resume', 'Discard']],
    [{ state: 'ready', removable: true }, ['Remove']],
    [{ state: 'ready', removable: false, shared: true }, []]
  ] as Array<[Partial<LocalModelInfo>, string[]]>)(
    'offers the possible actions for %o',
    async (more, expected) => {
      await panel([localModel(more)]);
      expect(buttons()).toEqual(expected);
    }
  );

  it('downloads, pauses and resumes with one press, and keeps the keyboard focus', async () => {
    const model = localModel();
    await panel([model]);
    await click('local-model-fetch');
    expect(acts.fetch).toHaveBeenCalledWith(model);
    expect(document.activeElement).toBe(part('local-models-panel'));
    await panel([localModel({ state: 'fetching', doneBytes: 558_660_384 })]);
    const bar = host.querySelector('progress');
    expect([bar?.value, bar?.max, bar?.getAttribute('aria-label')]).toEqual([
      50,
      100,
      'Downloading Big 1.5B'
    ]);
    await click('local-model-pause');
    expect(acts.pause).toHaveBeenCalledOnce();
    await panel([localModel({ state: 'paused', doneBytes: 5, error: 'The network is gone.' })]);
    expect(part('fetch-problem')?.textContent).toBe('The network is gone.');
    await click('local-model-resume');
    expect(acts.fetch).toHaveBeenCalledTimes(2);
  });

  it('asks before removing, and shows the location and owner of the file', async () => {
    await panel([localModel({ state: 'ready', removable: true, shared: true, path: '/opt/share/big.gguf' })]);
    await click('local-model-remove');
    expect(acts.remove).not.toHaveBeenCalled();
    expect(part('local-model-question')?.textContent).toContain(
      '/opt/share/big.gguf – everybody on this installation'
    );
    await click('local-model-remove-no');
    expect(part('local-model-question')).toBeNull();
    await click('local-model-remove');
    await click('local-model-remove-yes');
    expect(acts.remove).toHaveBeenCalledOnce();
  });

  it('shows loading, empty, failed and disconnected states', async () => {
    await panel(null);
    expect(part('local-models-state')?.textContent).toBe('Reading…');
    await panel([]);
    expect(part('local-models-state')?.textContent).toBe('There are no models to download.');
    await panel(null, { problem: 'The server does not answer.', refusal: 'It is answering.' });
    expect(part('local-models-problem')?.textContent).toContain('The server does not answer.');
    expect(part('local-models-refusal')?.textContent).toContain('It is answering.');
    await panel([localModel()], { online: false });
    expect(part('local-model-fetch')?.disabled).toBe(true);
    expect(part('local-models-state')?.textContent).toContain('connection');
  });

  it('closes on Escape', async () => {
    await panel([localModel()]);
    const key = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true });
    await act(async () => part('local-model-fetch')?.dispatchEvent(key));
    expect(acts.close).toHaveBeenCalledOnce();
  });
});

describe('the offer on the first page', () => {
  const offer = (model: LocalModelInfo) =>
    render(
      <LocalModelOffer
        model={model}
        refusal={null}
        online={true}
        fetch={acts.fetch}
        pause={acts.pause}
        showAll={acts.open}
      />
    );

  it('names the model, its size and its licence, and downloads with one click', async () => {
    await offer(localModel());
    expect(host.textContent).toContain(
      'Big 1.5B can run on this machine: a download of 1.12 GB, Apache-2.0.'
    );
    expect(part('offer-fetch')?.textContent).toBe('Download (1.12 GB)');
    await click('offer-fetch');
    expect(acts.fetch).toHaveBeenCalledOnce();
    await click('offer-all');
    expect(acts.open).toHaveBeenCalledOnce();
  });

  it('shows progress, and can be paused and resumed', async () => {
    await offer(localModel({ state: 'fetching', doneBytes: 558_660_384, source: 'Hugging Face' }));
    expect(part('fetch-state')?.textContent).toBe('50 % · 559 MB of 1.12 GB from Hugging Face');
    await click('offer-pause');
    expect(acts.pause).toHaveBeenCalledOnce();
    await offer(localModel({ state: 'paused', doneBytes: 558_660_384 }));
    expect(part('offer-fetch')?.textContent).toBe('Resume');
  });
});

it('the model picker opens the local models', async () => {
  const showLocalModels = vi.fn();
  const choose = vi.fn();
  const acts = { toolMode: 'auto' as const, chooseToolMode: vi.fn() };
  const rest = {
    models: [],
    standard: 'local/qwen2.5-coder-1.5b',
    chosen: null,
    connectModel: vi.fn(),
    effort: null,
    chooseEffort: vi.fn(),
    ...acts
  };
  await render(<ModelPicker {...rest} choose={choose} showLocalModels={showLocalModels} />);
  const select = part('model-picker') as unknown as HTMLSelectElement;
  const option = [...select.options].find(one => one.textContent === 'Local models…');
  await act(async () => {
    select.value = option!.value;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  expect(showLocalModels).toHaveBeenCalledOnce();
  expect(choose).not.toHaveBeenCalled();
});
