import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { SkillConsent } from '../src/features/skills/skill_consent';
import { Peer, Refusal, settle } from './peer';

const ASKED = { schemaVersion: 1, questionId: 'q1' };
const OVER = { open: false };
const open = (hash: string) => ({
  open: true,
  expiresAt: '2026-01-02T03:04:05.000Z',
  detail: { skill: { name: 'fresh', hash }, text: `print("${hash}")`, instructions: '' }
});
let peer: Peer;
let consent: SkillConsent;
const text = () => consent.question?.detail.text;
const asked = (method: 'skills.question' | 'skills.answer') => peer.askedFor(method);

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'skills.question': open('h1'), 'skills.answer': { ok: true } };
  peer.connect();
  consent = new SkillConsent(peer.client);
});
afterEach(() => {
  consent.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

it('shows and answers the server’s state, whatever the output says', async () => {
  consent.update({ ...ASKED, name: 'forged', hash: 'forged', kernelId: 'k1', text: 'print("harmless")' });
  expect([consent.question, consent.end]).toEqual([null, null]);
  await settle();
  expect(text()).toBe('print("h1")');
  await consent.trust('h1');
  expect(asked('skills.question')).toEqual([{ questionId: 'q1' }]);
  expect(asked('skills.answer')).toEqual([{ questionId: 'q1', hash: 'h1' }]);
});

it('a denial is sent to the server', async () => {
  consent.update(ASKED);
  await settle();
  await consent.refuse();
  expect(asked('skills.answer')).toEqual([{ questionId: 'q1' }]);
});

it('a question unknown to the server is over and takes no answer', async () => {
  peer.results['skills.question'] = OVER;
  consent.update(ASKED);
  await settle();
  expect(consent.end).toEqual({ outcome: 'gone' });
  await consent.trust('h1');
  await consent.refuse();
  expect(asked('skills.answer')).toEqual([]);
});

it('an output without a question sends nothing', async () => {
  for (const data of [null, 'x', {}, { questionId: 5 }, { name: 'fresh', kernelId: 'k1' }]) {
    consent.update(data);
    await settle();
    expect(consent.end).toEqual({ outcome: 'gone' });
  }
  expect(peer.socket.asked).toEqual([]);
});

it('collapses when the server says it is over, and does not reopen', async () => {
  consent.update(ASKED);
  await settle();
  peer.emit('skills.question_closed', { questionId: 'another', outcome: 'declined' });
  expect(consent.end).toBeNull();
  peer.emit('skills.question_closed', { questionId: 'q1', outcome: 'trusted' });
  expect(consent.end?.outcome).toBe('trusted');
  peer.emit('skills.updated', {});
  consent.update(ASKED);
  await settle();
  await consent.trust('h1');
  expect(consent.end?.outcome).toBe('trusted');
  expect(asked('skills.question')).toHaveLength(1);
  expect(asked('skills.answer')).toEqual([]);
});

it('ignores an answer in flight when it ended', async () => {
  peer.results['skills.question'] = (_: never, socket: { frame: (value: unknown) => void }) => {
    socket.frame({ event: 'skills.question_closed', data: { questionId: 'q1', outcome: 'declined' } });
    return open('h1');
  };
  consent.update(ASKED);
  await settle();
  expect(consent.end?.outcome).toBe('declined');
});

it('asks again when the skill changes and after a reconnect', async () => {
  consent.update(ASKED);
  await settle();
  peer.results['skills.question'] = open('h2');
  peer.emit('skills.updated', {});
  await settle();
  expect(text()).toBe('print("h2")');
  peer.results['skills.question'] = OVER;
  peer.lose();
  expect(consent.online).toBe(false);
  expect(consent.end).toBeNull();
  await peer.comeBack();
  expect(consent.end?.outcome).toBe('gone');
});

it('shows a rejected answer, and reloads the question', async () => {
  consent.update(ASKED);
  await settle();
  peer.results['skills.answer'] = new Refusal(-32000, 'The disk is full.');
  await consent.trust('h1');
  expect(consent.problem).toBe('The disk is full.');
  peer.results['skills.answer'] = new Refusal(-32602, '`hash`: the skill has changed in the meantime.');
  peer.results['skills.question'] = open('h2');
  await consent.trust('h1');
  expect([consent.problem, text()]).toEqual([null, 'print("h2")']);
  peer.results['skills.question'] = OVER;
  await consent.refuse();
  expect([consent.end?.outcome, consent.problem]).toEqual(['gone', null]);
});

it('says why it cannot be loaded, and keeps what was shown', async () => {
  peer.results['skills.question'] = new Refusal(-32000, 'The disk is gone.');
  consent.update(ASKED);
  await settle();
  expect([consent.problem, consent.question, consent.end]).toEqual(['The disk is gone.', null, null]);
  peer.results['skills.question'] = open('h1');
  peer.emit('skills.updated', {});
  await settle();
  expect([consent.problem, text()]).toEqual([null, 'print("h1")']);
  peer.results['skills.question'] = new Refusal(-32000, 'The disk is gone.');
  peer.emit('skills.updated', {});
  await settle();
  expect([consent.problem, text()]).toEqual(['The disk is gone.', 'print("h1")']);
});

it('another question in the same output replaces it', async () => {
  consent.update(ASKED);
  await settle();
  peer.emit('skills.question_closed', { questionId: 'q1', outcome: 'gone' });
  peer.results['skills.question'] = open('h2');
  consent.update({ ...ASKED, questionId: 'q2' });
  expect([consent.question, consent.end]).toEqual([null, null]);
  await settle();
  await consent.trust('h2');
  expect(asked('skills.answer')).toEqual([{ questionId: 'q2', hash: 'h2' }]);
});
