import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { CellTurn, asStoredTurn } from '../src/features/cell_card/cell_turn';
import { isRun } from '../src/features/chat/conversation';
import { Session } from '../src/features/chat/session';
import { Peer, Refusal, settle } from './peer';

let peer: Peer;
let frames: Array<() => void>;
let seq = 0;

const run = () => ({ runId: 'r1', sessionKey: 's', seq: ++seq });
const services = () => ({
  client: peer.client,
  events: peer.events,
  nowMs: () => 0,
  onFrame: (callback: () => void) => {
    frames.push(callback);
    return () => undefined;
  }
});
const draw = () => frames.splice(0).forEach(callback => callback());
const output = (status: string) => ({ sessionKey: 's', runId: 'r1', status, parts: [], problem: '' });
const followed = async () => {
  const turn = new CellTurn(services());
  turn.update(output('running'), true);
  await settle();
  return turn;
};

beforeEach(() => {
  vi.useFakeTimers();
  seq = 0;
  frames = [];
  peer = new Peer();
  const session = { sessionKey: 's', agentId: 'main', title: 'n.ipynb', activity: 'running' };
  peer.results = {
    'health.check': { uptime: 1 },
    'sessions.subscribe': { seq: 0 },
    'sessions.get': { session, messages: [] },
    'approvals.list': { approvals: [] },
    'questions.list': { questions: [] },
    'exec.approve': { ok: true },
    'chat.history': { messages: [] }
  };
  peer.connect();
});
afterEach(() => vi.useRealTimers());

it('follows the run while the cell waits, answers the server, and uses only the output afterwards', async () => {
  const turn = await followed();
  peer.emit('chat.started', run());
  peer.emit('chat.delta', { runId: 'r1', seq: ++seq, text: 'Half' });
  draw();
  expect(turn.run?.parts).toMatchObject([{ kind: 'text', text: 'Half' }]);
  await turn.approve('a1', 'once', 'v1');
  expect(peer.askedFor('exec.approve')).toEqual([{ approvalId: 'a1', scope: 'once', version: 'v1' }]);
  const parts = [
    { kind: 'step', status: 'ok', verb: 'Ran', object: 'ls', isCode: true, note: '' },
    { kind: 'text', text: 'Whole' }
  ];
  turn.update({ ...output('final'), parts }, true);
  expect(turn.run).toBeNull();
  expect(turn.isFollowed).toBe(false);
  expect(turn.stored.parts).toEqual(parts);
});

it('never follows an output loaded from a file, and offers no answers in it', async () => {
  const turn = new CellTurn(services());
  turn.update(output('running'), false);
  await settle();
  expect(turn.run).toBeNull();
  expect(peer.askedFor('sessions.get')).toEqual([]);
  await turn.approve('a1', 'always', 'v1');
  await turn.deny('a1', 'no');
  await turn.answer('q1', 'yes');
  expect(peer.askedFor('exec.approve')).toEqual([]);
  turn.update(output('final'), true);
  expect(peer.askedFor('sessions.get')).toEqual([]);
});

it('keeps the output of a session that is not on this server', async () => {
  peer.results['sessions.subscribe'] = new Refusal(-32000, 'There is no session s.');
  const turn = await followed();
  expect(turn.run).toBeNull();
  expect(turn.isFollowed).toBe(false);
});

it('parses any saved output as a turn or as nothing', () => {
  expect(asStoredTurn(null).parts).toEqual([]);
  expect(asStoredTurn('x').status).toBe('interrupted');
  const odd = asStoredTurn({ parts: [null, 1, { kind: 'text', text: 5 }, { kind: 'step' }], status: {} });
  expect(odd.parts).toEqual([
    { kind: 'text', text: '' },
    { kind: 'step', status: '', verb: '', object: '', isCode: false, note: '' }
  ]);
});

it('contains the plan beside the calls, and ignores an invalid one', () => {
  const steps = [
    { text: 'Load', status: 'done' },
    { text: 'Fit', status: 'doing' }
  ];
  const parts = [
    { kind: 'plan', steps },
    { kind: 'text', text: 'Loaded.' }
  ];
  const stored = asStoredTurn({ ...output('final'), parts });
  expect(stored.plan).toMatchObject({ done: 1, total: 2, current: 'Fit', steps });
  expect(stored.parts).toEqual([{ kind: 'text', text: 'Loaded.' }]);
  expect(asStoredTurn({ parts: [{ kind: 'plan', steps: 'x' }, null] }).plan).toBeNull();
});

it('a second view of a loaded session duplicates nothing in the first', async () => {
  const first = new Session(services(), 's');
  await settle();
  const said = [
    { event: 'chat.started', data: run() },
    { event: 'chat.delta', data: { runId: 'r1', seq: ++seq, text: 'Once.' } }
  ] as const;
  said.forEach(({ event, data }) => peer.emit(event, data));
  draw();
  peer.results['sessions.subscribe'] = (_: unknown, socket: { frame: (value: unknown) => void }) => {
    queueMicrotask(() => said.forEach(frame => socket.frame(frame)));
    return { seq: 2 };
  };
  const turn = await followed();
  draw();
  const texts = (items: readonly unknown[]) =>
    (items as Session['items']).filter(isRun).map(one => one.parts.map(part => 'text' in part && part.text));
  expect(texts(first.items)).toEqual([['Once.']]);
  expect(texts([turn.run!])).toEqual([['Once.']]);
  peer.emit('chat.delta', { runId: 'r1', seq: ++seq, text: ' Twice.' });
  draw();
  expect(texts(first.items)).toEqual([['Once. Twice.']]);
  expect(texts([turn.run!])).toEqual([['Once. Twice.']]);
});
