import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { SkillConsent } from '../src/models/skill_consent';
import { Peer, Refusal, settle } from './peer';

const ASKED = { schemaVersion: 1, name: 'fresh', agentId: 'writer', kernelId: 'k1' };
const detail = (hash: string) => ({
  skill: { name: 'fresh', hash },
  text: `print("${hash}")`,
  instructions: ''
});
let peer: Peer;
let consent: SkillConsent;
const interrupt = vi.fn(() => Promise.resolve());

beforeEach(() => {
  vi.useFakeTimers();
  interrupt.mockClear();
  peer = new Peer();
  peer.results = { 'skills.get': detail('h1'), 'skills.trust': {} };
  peer.connect();
  consent = new SkillConsent(peer.client, interrupt);
});
afterEach(() => {
  consent.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

it('shows and trusts what the server has, whatever the output says of it', async () => {
  consent.update({ ...ASKED, hash: 'forged', text: 'print("harmless")' }, true);
  await settle();
  expect(consent.detail?.text).toBe('print("h1")');
  await consent.trust('h1');
  expect(peer.askedFor('skills.get')).toEqual([{ name: 'fresh', agentId: 'writer' }]);
  expect(peer.askedFor('skills.trust')).toEqual([{ name: 'fresh', agentId: 'writer', hash: 'h1' }]);
});

it('a version that changed while one looked is shown, and not trusted unseen', async () => {
  consent.update(ASKED, true);
  await settle();
  peer.results['skills.trust'] = new Refusal(-32602, 'The skill has changed meanwhile.');
  peer.results['skills.get'] = detail('h2');
  await consent.trust('h1');
  expect(consent.detail?.text).toBe('print("h2")');
  expect(consent.problem).toBe('The skill has changed meanwhile.');
});

it('a no ends the cell that waits', async () => {
  consent.update(ASKED, true);
  await consent.refuse();
  expect(interrupt.mock.calls).toEqual([['k1']]);
  expect(peer.askedFor('skills.trust')).toEqual([]);
});

it('an output that came with a file, or names no skill, asks and answers nothing', async () => {
  for (const [data, isTrusted] of [
    [ASKED, false],
    [null, true],
    [{ name: 5, kernelId: 'k1' }, true],
    [{ name: 'fresh' }, true]
  ] as const) {
    consent.update(data, isTrusted);
    await settle();
    expect(consent.isAsking).toBe(false);
    await consent.trust('h1');
    await consent.refuse();
  }
  expect(peer.askedFor('skills.get')).toEqual([]);
  expect(peer.askedFor('skills.trust')).toEqual([]);
  expect(interrupt).not.toHaveBeenCalled();
});
