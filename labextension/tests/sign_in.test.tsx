import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Providers } from '../src/features/settings/providers';
import { Settings } from '../src/features/settings/settings';
import { SignIn } from '../src/features/settings/sign_in';
import type { ProviderCard, Subscription } from '../src/protocol/wire';
import { click, drawAnew, host, part, render } from './drawing';
import { Peer } from './peer';

drawAnew();

const CODE = { userCode: 'ABCD-1234', verificationUri: 'https://github.com/login/device', expiresInS: 90 };
const CARD: ProviderCard = {
  name: 'copilot',
  title: 'GitHub Copilot',
  state: 'not_configured',
  needsKey: false,
  ownServer: false,
  keyVariables: [],
  models: []
};
const acts = { signIn: vi.fn(), cancelSignIn: vi.fn(), signOut: vi.fn() };

let peer: Peer;
let settings: Settings;

beforeEach(() => {
  peer = new Peer();
  peer.connect();
  settings = new Settings(peer.client);
  vi.clearAllMocks();
});
afterEach(() => {
  settings.dispose();
  peer.client.dispose();
});

const draw = (subscription: Partial<Subscription>, card: Partial<ProviderCard> = {}) =>
  render(
    <SignIn
      card={{ ...CARD, ...card }}
      subscription={{ kind: 'device', state: 'signed_out', ...subscription }}
      settings={settings}
      online
      {...acts}
    />,
    { copy: vi.fn() }
  );

describe('the sign-in', () => {
  it('begins with a button', async () => {
    await draw({});
    await click('sign-in');
    expect(acts.signIn).toHaveBeenCalledOnce();
  });

  it('asks for a client id first', async () => {
    await draw({ needsClientId: true });
    expect(part('sign-in')).toBeNull();
    expect(part('needs-client-id')).not.toBeNull();
  });

  it('shows the code, the page and the time that is left', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    await draw({ state: 'pending', code: CODE });
    expect(part('user-code')?.textContent).toBe('ABCD-1234');
    const link = part('verification-link') as HTMLAnchorElement;
    expect([link.href, link.target, link.rel]).toEqual([
      CODE.verificationUri,
      '_blank',
      'noopener noreferrer'
    ]);
    expect(part('code-expires')?.textContent).toContain('1:30');
    await act(async () => void vi.advanceTimersByTime(31_000));
    expect(part('code-expires')?.textContent).toContain('0:59');
    await act(async () => void vi.advanceTimersByTime(60_000));
    expect(part('code-expires')?.textContent).toContain('about to expire');
    await click('cancel-sign-in');
    expect(acts.cancelSignIn).toHaveBeenCalledOnce();
    vi.useRealTimers();
  });

  it('says that the code was copied', async () => {
    await draw({ state: 'pending', code: CODE });
    await click('copy-user-code');
    expect(part('copy-user-code')?.textContent).toBe('Copied');
  });

  it('links to no page but one of the web', async () => {
    await draw({ state: 'pending', code: { ...CODE, verificationUri: 'javascript:alert(1)' } });
    expect((part('verification-link') as HTMLAnchorElement).getAttribute('href')).toBeNull();
  });

  it.each([
    ['denied', 'declined'],
    ['expired', 'expired'],
    ['failed', 'no connection']
  ] as const)('can be tried again when it is %s', async (state, words) => {
    await draw({ state, message: 'no connection' });
    expect(part('sign-in-state')?.textContent).toContain(words);
    await click('sign-in');
    expect(acts.signIn).toHaveBeenCalledOnce();
  });

  it('shows the account, and signs out of what is stored', async () => {
    await draw({ state: 'signed_in', account: 'octocat' }, { key: 'store' });
    expect(part('sign-in-state')?.textContent).toBe('Signed in as octocat.');
    await click('sign-out');
    expect(acts.signOut).toHaveBeenCalledOnce();
  });

  it('leaves that of a program to the program', async () => {
    await draw({ kind: 'program', message: 'Run `claude` in a terminal.' });
    expect(host.textContent).toContain('Run `claude` in a terminal.');
    expect(part('sign-in')).toBeNull();
  });

  it('asks the server, and follows it', async () => {
    peer.results = {
      'providers.list': {
        providers: [{ ...CARD, subscription: { kind: 'device', state: 'pending', code: CODE } }]
      },
      'subscriptions.begin': CODE
    };
    const providers = new Providers(peer.client);
    await providers.open();
    await providers.signIn('copilot');
    providers.select('copilot');
    expect(providers.selected?.subscription?.code?.userCode).toBe('ABCD-1234');
    expect(providers.refusal).toBeNull();
    providers.dispose();
  });
});
