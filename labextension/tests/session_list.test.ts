import { afterEach, expect, it } from 'vitest';

import { SessionList } from '../src/features/sessions/session_list';
import { Peer, Refusal } from './peer';

const peer = new Peer();
afterEach(() => peer.client.dispose());

it('names the failed search until one succeeds, and keeps earlier results', async () => {
  const list = new SessionList(peer.client);
  peer.results['sessions.list'] = { sessions: [{ sessionKey: 's' }], total: 1 };
  peer.connect();
  await list.load('birds');
  peer.results['sessions.list'] = new Refusal(-32000, 'Away.');
  await list.load('nest');
  expect([list.failed, list.query, list.sessions.length]).toEqual(['nest', 'birds', 1]);
  peer.results['sessions.list'] = { sessions: [], total: 0 };
  await list.load('nest');
  expect([list.failed, list.query, list.problem]).toEqual([null, 'nest', null]);
});
