import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { EmptyState } from '../src/features/chat/empty_state';
import { RunView } from '../src/features/chat/run_view';
import type { ChatModel } from '../src/features/chat/chat_model';
import { newRun } from '../src/features/chat/conversation';
import type { LocalModels } from '../src/features/local_models/local_models';
import { noModelReason } from '../src/features/chat/no_model';
import { ViewState } from '../src/features/chat/view_state';
import type { Agent, Component } from '../src/protocol/wire';
import { WaysWithoutModel } from '../src/features/local_models/local_model_parts';
import { fetchable, localModel } from './local_model';
import type { Peer } from './peer';
import { click, drawAnew, host, part, render, trans } from './drawing';

vi.mock('@jupyterlab/rendermime', () => ({}));
vi.mock('@jupyterlab/outputarea', () => ({}));

drawAnew();

const LINE = 'No model is set up yet. Download Big 1.5B (1.12 GB).';
const MODEL = localModel();

describe('the reason why there is no model', () => {
  const why = (standard: string, chosen: string | null, state: Component, models = [MODEL]) =>
    noModelReason({ agent: { model: standard } as Agent, component: () => state }, { models }, chosen, trans);
  const missing = { ok: false, message: LINE };
  const fine = { ok: true, message: 'fine' };

  it('is the server’s message without a model, and nothing otherwise', () => {
    expect(why('', null, missing)).toBe(LINE);
    expect(why('local/big', null, fine)).toBeNull();
  });

  it('explains what to do about an unknown name in onyx.json', () => {
    expect(why('local/smollm2', null, { ok: false, message: 'It is gone.', hint: 'Choose local/big.' })).toBe(
      'It is gone. Choose local/big.'
    );
  });

  it('is given for a previously selected model that is missing, and for no other', () => {
    expect(why('', 'local/smollm2', missing)).toBe(
      'smollm2 is not on this machine: choose another model below the input.'
    );
    expect(why('', 'local/big', missing)).toContain('big is not on this machine');
    expect(why('', 'local/big', missing, [localModel({ state: 'ready' })])).toBeNull();
    expect(why('', 'local//own/file.gguf', missing)).toBeNull();
    expect(why('', 'openai/x', missing)).toBeNull();
  });

  it('is unknown before the server has answered', () => {
    expect(noModelReason({ agent: null, component: () => null }, { models: null }, null, trans)).toBeNull();
  });
});

describe('without a model', () => {
  let peer: Peer;
  let view: ViewState;
  let localModels: LocalModels;
  const showSkills = vi.fn();
  const chooseModel = vi.fn();
  const retry = vi.fn();
  const actions = () => (
    <WaysWithoutModel
      localModels={localModels}
      client={peer.client}
      view={view}
      chat={{ chooseModel } as unknown as ChatModel}
      showSkills={showSkills}
    />
  );
  const page = (noModel: { line: string; actions: JSX.Element } | null) => (
    <EmptyState
      model=""
      isLocal={false}
      noModel={noModel}
      notebook={null}
      fix={null}
      ask={() => undefined}
      connectModel={() => undefined}
    />
  );
  const answer = (more: { actions?: JSX.Element; code?: string }) => {
    const done = () => Promise.resolve();
    const problem = { code: more.code ?? 'no_model', message: LINE };
    return (
      <RunView
        run={{ ...newRun('r1'), status: 'error', problem }}
        online
        canRetry
        retry={retry}
        actions={more.actions}
        approve={done}
        deny={done}
        answer={done}
      />
    );
  };

  beforeEach(async () => {
    view = new ViewState();
    ({ peer, localModels } = await fetchable(MODEL));
  });
  afterEach(async () => {
    localModels.dispose();
    peer.client.dispose();
  });

  it('the first page shows only the message and the ways out', async () => {
    await render(page({ line: LINE, actions: actions() }));
    expect([...host.querySelectorAll('p')].map(one => one.textContent)).toEqual([LINE]);
    expect(part('suggestion')).toBeNull();
    expect([...host.querySelectorAll('button')].map(one => one.textContent)).toEqual([
      'Download (1.12 GB)',
      'Local models…',
      'Connect a model',
      'Skills',
      'Search'
    ]);
    await click('show-skills');
    expect(showSkills).toHaveBeenCalledOnce();
    await click('search-sessions');
    expect(view.panel).toBe('sessions');
    await click('connect-model');
    expect(view.panel).toBe('connect');
    await click('offer-fetch');
    expect(peer.askedFor('local_models.fetch')).toEqual([{ id: MODEL.id }]);
  });

  it('an answer shows the same message and ways out, is no alarm, and can be retried', async () => {
    await render(answer({ actions: actions() }));
    expect(part('no-model')?.textContent).toContain(LINE);
    expect(part('no-model')?.getAttribute('role')).toBe('status');
    expect(part('run-problem')).toBeNull();
    expect(part('offer-fetch')?.textContent).toBe('Download (1.12 GB)');
    await click('retry');
    expect(retry).toHaveBeenCalledOnce();
  });

  it('the ways out disappear once there is a model, and the message can still be retried', async () => {
    await render(answer({}));
    expect(part('ways-on')).toBeNull();
    expect(part('retry')).not.toBeNull();
  });

  it('another failure is shown as an error', async () => {
    await render(answer({ code: 'timeout' }));
    expect(part('run-problem')?.getAttribute('role')).toBe('alert');
    expect(part('no-model')).toBeNull();
  });
});
