import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { AddServer } from '../src/features/settings/add_server';
import { AgentDetail } from '../src/features/settings/agent_detail';
import { ModelRoles } from '../src/features/settings/model_roles';
import { ProviderDetail } from '../src/features/settings/provider_detail';
import { ProviderList } from '../src/features/settings/provider_list';
import { testWords } from '../src/features/settings/provider_words';
import { Providers } from '../src/features/settings/providers';
import { Settings } from '../src/features/settings/settings';
import type { AcpAgentInfo, ProviderCard, SettingsInfo } from '../src/protocol/wire';
import { all, click, drawAnew, host, part, render, trans } from './drawing';
import { Peer, Refusal, settle } from './peer';

drawAnew();

const card = (more: Partial<ProviderCard> = {}): ProviderCard => ({
  name: 'openai',
  title: 'OpenAI',
  state: 'not_configured',
  needsKey: true,
  ownServer: false,
  keyVariables: ['OPENAI_API_KEY'],
  models: [],
  ...more
});
const agent = (name: string, title: string, more: Partial<AcpAgentInfo> = {}): AcpAgentInfo => ({
  name,
  title,
  model: `acp/${name}`,
  installed: false,
  configured: false,
  command: `${name}-acp`,
  install: `npm install -g ${name}`,
  ...more
});
const AGENTS = [
  agent('mine', 'mine', { configured: true, command: '/opt/mine', install: '' }),
  agent('claude', 'Claude Code', { installed: true, command: 'claude-agent-acp' }),
  agent('codex', 'Codex')
];
const INFO: SettingsInfo = {
  file: '/home/me/.config/onyx/onyx.json',
  version: 'v1',
  values: [
    { key: 'runtime.defaultModel', value: 'openai/big' },
    { key: 'runtime.consolidationModel', value: null, lockedBy: 'ONYX_RUNTIME__CONSOLIDATIONMODEL' },
    { key: 'security.budget.dayUsd', value: 5 }
  ],
  problems: []
};

let peer: Peer;
let providers: Providers;
let settings: Settings;

beforeEach(async () => {
  peer = new Peer();
  peer.results = {
    'providers.list': { providers: [card()], keyStore: {} },
    'settings.get': INFO
  };
  peer.connect();
  providers = new Providers(peer.client);
  settings = new Settings(peer.client);
  await providers.open();
  await settings.open();
});
afterEach(() => {
  providers.dispose();
  settings.dispose();
  peer.client.dispose();
});

const acts = {
  setKey: vi.fn(),
  moveKey: vi.fn(),
  removeKey: vi.fn(),
  rotateKey: vi.fn(),
  runTest: vi.fn(),
  signIn: vi.fn(),
  cancelSignIn: vi.fn(),
  signOut: vi.fn(),
  useModel: vi.fn(),
  makeStandard: vi.fn()
};
const detail = (one: ProviderCard, more: Partial<React.ComponentProps<typeof ProviderDetail>> = {}) =>
  render(
    <ProviderDetail
      card={one}
      keyStore={{}}
      stored={2}
      settings={settings}
      test={null}
      online
      standard={null}
      back={() => undefined}
      {...acts}
      {...more}
    />
  );
const type = (name: string, text: string) =>
  act(async () => {
    const input = part<HTMLInputElement>(name)!;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(input, text);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });

describe('the list of providers', () => {
  it('shows those in use first, each with its state and where its key comes from', async () => {
    const cards = [
      card(),
      card({ name: 'ollama', title: 'Ollama', needsKey: false, ownServer: true }),
      card({ name: 'mistral', title: 'Mistral', state: 'connected', key: 'store' }),
      card({ name: 'groq', title: 'Groq', state: 'failing', key: 'environment', variable: 'GROQ_API_KEY' })
    ];
    const selectAgent = vi.fn();
    await render(
      <ProviderList
        cards={cards}
        selected="mistral"
        select={() => undefined}
        agents={AGENTS}
        selectedAgent={null}
        selectAgent={selectAgent}
      />
    );
    expect([...host.querySelectorAll('h3')].map(one => one.textContent)).toEqual([
      'Set up',
      'On this machine',
      'Not set up',
      'Other agents'
    ]);
    expect(all('provider').map(one => one.textContent)).toEqual([
      'Mistralconnectedstored key',
      'Groqfailingkey from GROQ_API_KEY',
      'Ollamanot running',
      'OpenAI'
    ]);
    expect(all('agent').map(one => one.textContent)).toEqual([
      'minenot found/opt/mine',
      'Claude Codeinstalledclaude-agent-acp',
      'Codexnot installedcodex-acp'
    ]);
    await click('agent');
    expect(selectAgent).toHaveBeenCalledWith('mine');
    await type('provider-search', 'olla');
    expect([all('provider').length, all('agent').length]).toEqual([1, 0]);
    await type('provider-search', 'nobody');
    expect(host.textContent).toContain('Nothing found.');
  });
});

describe('a key', () => {
  it('is sent once and shown never again', async () => {
    acts.setKey.mockResolvedValue(true);
    await detail(card());
    expect(part('key-save')!.disabled).toBe(true);
    await type('key-input', 'sk-123');
    await click('key-save');
    expect(acts.setKey).toHaveBeenCalledWith('sk-123');
    expect(part<HTMLInputElement>('key-input')!.value).toBe('');
    expect(part<HTMLInputElement>('key-input')!.type).toBe('password');
  });

  it('stays typed if it was not stored', async () => {
    acts.setKey.mockResolvedValue(false);
    await detail(card());
    await type('key-input', 'sk-123');
    await click('key-save');
    expect(part<HTMLInputElement>('key-input')!.value).toBe('sk-123');
  });

  it('is read again when somebody changed the file', async () => {
    vi.useFakeTimers();
    const before = peer.askedFor('providers.list').length;
    peer.emit('settings.updated', {});
    await vi.advanceTimersByTimeAsync(5_000);
    expect(peer.askedFor('providers.list').length).toBeGreaterThan(before);
    vi.useRealTimers();
  });

  it('from the environment is locked, with the name of its variable', async () => {
    await detail(card({ state: 'ready', key: 'environment', variable: 'OPENAI_API_KEY' }));
    expect(part('key-locked')!.textContent).toContain('OPENAI_API_KEY');
    expect(part('key-input')).toBeNull();
  });

  it('in the file can be moved to the store, and a stored one can be removed', async () => {
    await detail(card({ state: 'ready', key: 'file', keyInFile: true }));
    expect(part('key-remove')).toBeNull();
    await click('key-move');
    expect(acts.moveKey).toHaveBeenCalledOnce();
    await detail(card({ state: 'ready', key: 'store' }));
    expect(part('key-in-file')).toBeNull();
    await click('key-remove');
    expect(acts.removeKey).toHaveBeenCalledOnce();
  });

  it('gets a new encryption key after a question that says what it means', async () => {
    await detail(card({ state: 'ready', key: 'file' }));
    expect(part('rotate-key')).toBeNull();
    await detail(card({ state: 'ready', key: 'store' }), { keyStore: { problem: 'The store is damaged.' } });
    expect(part('rotate-key')).toBeNull();

    let finish = (isDone: boolean): void => void isDone;
    acts.rotateKey.mockReturnValue(new Promise<boolean>(resolve => (finish = resolve)));
    await detail(card({ state: 'ready', key: 'store' }));
    await click('rotate-key');
    expect(part('rotate-question')!.textContent).toContain('Encrypt all 2 stored keys again, with');
    expect(document.activeElement).toBe(part('rotate-confirm'));
    await click('rotate-cancel');
    expect(part('rotate-question')).toBeNull();
    expect(document.activeElement).toBe(part('rotate-key'));
    expect(acts.rotateKey).not.toHaveBeenCalled();

    await click('rotate-key');
    await click('rotate-confirm');
    expect(part<HTMLButtonElement>('rotate-confirm')!.disabled).toBe(true);
    await act(async () => finish(true));
    expect(part('rotate-question')).toBeNull();
    expect(part('rotate-result')!.textContent).toContain('Done');
    expect(acts.rotateKey).toHaveBeenCalledOnce();
  });

  it('keeps its old encryption key where a new one could not be made, and the reason is said', async () => {
    acts.rotateKey.mockResolvedValue(false);
    await detail(card({ state: 'ready', key: 'store' }));
    await click('rotate-key');
    await click('rotate-confirm');
    expect(part('rotate-key')).not.toBeNull();
    expect(part('rotate-result')!.textContent).toBe('');
    peer.results['credentials.rotate'] = new Refusal(-32000, 'The disk is full.');
    expect(await providers.rotate()).toBe(false);
    expect(providers.refusal).toBe('The disk is full.');
    peer.results['credentials.rotate'] = { ok: true };
    expect(await providers.rotate()).toBe(true);
  });

  it('that could not be taken out of the file is read anew, and the reason stays', async () => {
    peer.results['credentials.move'] = new Refusal(-32000, 'onyx.json was changed meanwhile.');
    peer.results['providers.list'] = { providers: [card({ key: 'store', keyInFile: true })], keyStore: {} };
    await providers.moveKey('openai');
    expect(peer.askedFor('credentials.move')).toEqual([{ name: 'openai' }]);
    expect(providers.cards![0]).toMatchObject({ key: 'store', keyInFile: true });
    expect(providers.refusal).toBe('onyx.json was changed meanwhile.');
  });

  it('is stored and removed by the server, which is asked for the new state', async () => {
    peer.results['credentials.set'] = { ok: true };
    expect(await providers.setKey('openai', 'sk-123')).toBe(true);
    expect(peer.askedFor('credentials.set')).toEqual([{ name: 'openai', secret: 'sk-123' }]);
    expect(peer.askedFor('providers.list')).toHaveLength(2);
    peer.results['credentials.set'] = new Refusal(-32000, 'The disk is full.');
    expect(await providers.setKey('openai', 'sk-123')).toBe(false);
    expect(providers.refusal).toBe('The disk is full.');
  });
});

describe('a connection', () => {
  it('cannot be tested before there is a key, and then with one of its models', async () => {
    await detail(card());
    expect(part('test-connection')!.disabled).toBe(true);
    await detail(card({ state: 'ready', key: 'store', models: ['openai/a', 'openai/b'] }));
    await click('test-connection');
    expect(acts.runTest).toHaveBeenCalledWith(null);
  });

  it('says what it took, or why it failed', () => {
    const good = { ok: true, model: 'openai/a', totalMs: 1234, inputTokens: 20, outputTokens: 3 };
    expect(testWords({ ...good, costUsd: 0.00012 }, trans)).toBe(
      'openai/a answered in 1.2 s: 20 tokens in, 3 out, $0.00012.'
    );
    expect(testWords(good, trans)).toContain('cost unknown');
    expect(testWords({ ok: false, model: 'a/b', message: 'No.', hint: 'Do this.' }, trans)).toBe(
      'No. Do this.'
    );
  });

  it('is tested once, and an error of the server leaves no result', async () => {
    peer.results['providers.test'] = { ok: true, model: 'openai/a', totalMs: 5 };
    await providers.runTest('openai', null);
    expect(providers.test('openai')).toMatchObject({ ok: true });
    peer.results['providers.test'] = new Refusal(-32000, 'No model is known.');
    await providers.runTest('openai', null);
    expect([providers.test('openai'), providers.refusal]).toEqual([null, 'No model is known.']);
  });

  it('of a former key says nothing about the new one', async () => {
    const test = providers.runTest('openai', null);
    const asked = peer.socket.asked.find(one => one.method === 'providers.test')!;
    peer.results['credentials.set'] = { ok: true };
    await providers.setKey('openai', 'sk-new');
    peer.socket.frame({ id: asked.id, result: { ok: false, model: 'openai/a', message: 'Wrong key.' } });
    await test;
    expect(providers.test('openai')).toBeNull();
  });

  it('that fails shows its reason with the provider', async () => {
    await detail(card({ state: 'failing', key: 'store', message: 'Wrong key.', hint: 'Enter another.' }));
    expect(part('provider-problem')!.textContent).toBe('Wrong key. Enter another.');
  });
});

describe('models', () => {
  it('can be used in the chat or made the default', async () => {
    await detail(card({ state: 'ready', key: 'store', models: ['openai/big', 'openai/small'] }), {
      standard: 'openai/big'
    });
    expect(all('make-default')).toHaveLength(1);
    await click('make-default');
    expect(acts.makeStandard).toHaveBeenCalledWith('openai/small');
    await click('use-model');
    expect(acts.useModel).toHaveBeenCalledWith('openai/big');
  });

  it('by role are written to the file, and those of a variable are locked', async () => {
    peer.results['settings.set'] = { settings: { ...INFO, version: 'v2' } };
    await render(
      <ModelRoles settings={settings} models={['openai/big', 'a/b']} online back={() => undefined} />
    );
    const [first, second] = all('role') as unknown as HTMLSelectElement[];
    expect([first.value, second.disabled]).toEqual(['openai/big', true]);
    expect(host.textContent).toContain('ONYX_RUNTIME__CONSOLIDATIONMODEL');
    await act(async () => {
      first.value = 'a/b';
      first.dispatchEvent(new Event('change', { bubbles: true }));
    });
    expect(peer.askedFor('settings.set')).toEqual([
      { version: 'v1', edits: [{ key: 'runtime.defaultModel', value: 'a/b' }] }
    ]);
  });
});

describe('a change of the file meanwhile', () => {
  it('is shown, nothing is written, and the change can be made again', async () => {
    peer.results['settings.set'] = { settings: { ...INFO, version: 'v2' }, conflict: '-a\n+b' };
    await settings.set('security.budget.dayUsd', 9);
    expect(settings.conflict).toBe('-a\n+b');
    peer.results['settings.set'] = { settings: { ...INFO, version: 'v3' } };
    await settings.setAnyway();
    expect(settings.conflict).toBeNull();
    expect(peer.askedFor('settings.set').map(one => one.version)).toEqual(['v1', 'v2']);
  });
});

describe('two changes at once', () => {
  const answer = async (version: string, more: object = {}) => {
    await settle();
    const asked = peer.socket.asked.filter(one => one.method === 'settings.set').pop()!;
    peer.socket.frame({ id: asked.id, result: { settings: { ...INFO, version }, ...more } });
  };

  it('are written one after the other, each into the file as it is then', async () => {
    const both = [settings.set('security.budget.dayUsd', 9), settings.set('runtime.defaultModel', 'a/b')];
    await answer('v2');
    await both[0];
    await answer('v3');
    await both[1];
    expect(peer.askedFor('settings.set').map(one => one.version)).toEqual(['v1', 'v2']);
  });

  it('do not hide the conflict of the first', async () => {
    const both = [settings.set('security.budget.dayUsd', 9), settings.set('runtime.defaultModel', 'a/b')];
    await answer('v2', { conflict: '-a\n+b' });
    await both[0];
    await answer('v3');
    await both[1];
    expect(settings.conflict).toBe('-a\n+b');
  });
});

describe('a server of one’s own', () => {
  it('needs a free name and an address', async () => {
    const add = vi.fn();
    await render(<AddServer taken={['lab']} online add={add} back={() => undefined} />);
    await type('server-name', 'lab');
    expect(host.textContent).toContain('There is a provider of that name already.');
    await type('server-name', 'gpu');
    await type('server-address', 'localhost:8000');
    expect(part('server-add')!.disabled).toBe(true);
    await type('server-address', ' http://localhost:8000/v1');
    await click('server-add');
    expect(add).toHaveBeenCalledWith('gpu', 'http://localhost:8000/v1');
  });
});

describe('another agent', () => {
  const useModel = vi.fn();
  const draw = (one: AcpAgentInfo) =>
    render(<AgentDetail agent={one} useModel={useModel} back={() => undefined} />);

  it('that is installed can be used at once', async () => {
    await draw(AGENTS[1]);
    expect(part('agent-install')).toBeNull();
    await click('use-agent');
    expect(useModel).toHaveBeenCalledWith('acp/claude');
  });

  it('that is not installed says how to install it', async () => {
    await draw(AGENTS[2]);
    expect(part('use-agent')).toBeNull();
    expect(part('agent-install')!.textContent).toBe('npm install -g codex');
  });

  it('that is configured and not found points to the file', async () => {
    await draw(AGENTS[0]);
    expect(part('agent-state')!.textContent).toContain('not found');
    expect(host.textContent).toContain('acp.agents');
    expect(part('agent-install')).toBeNull();
  });
});
