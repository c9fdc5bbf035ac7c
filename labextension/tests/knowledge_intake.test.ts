import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { KnowledgeIntake } from '../src/features/documents/knowledge_intake';
import type { KnowledgeItemInfo } from '../src/protocol/wire';
import { Peer, Refusal } from './peer';

let peer: Peer;
let intake: KnowledgeIntake;
let told: string[];

const item = (more: Partial<KnowledgeItemInfo> = {}): KnowledgeItemInfo => ({
  itemId: 'one',
  kind: 'path',
  path: 'docs',
  title: 'docs',
  addedAt: '2026-11-20T10:00:00Z',
  state: 'waiting',
  done: 0,
  total: 3,
  chunks: 0,
  problemCount: 0,
  ...more
});

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'knowledge.add': item() };
  peer.connect();
  told = [];
  intake = new KnowledgeIntake(peer.client, {
    show: ({ itemId, state }) => (told.push(`show ${itemId} ${state}`), `notice of ${itemId}`),
    update: (notice, { state, done }) => told.push(`${notice}: ${state} ${done}`),
    refused: (path, reason) => told.push(`refused ${path}: ${reason}`)
  });
});
afterEach(() => {
  intake.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('documents added by a tab', () => {
  it('are followed step by step until they are done', async () => {
    await intake.add(['docs']);
    expect(peer.askedFor('knowledge.add')).toEqual([{ path: 'docs' }]);
    peer.emit('knowledge.progress', item({ state: 'reading', done: 2 }));
    peer.emit('knowledge.progress', item({ state: 'done', done: 3 }));
    peer.emit('knowledge.progress', item({ state: 'reading', done: 0 }));
    expect(told).toEqual(['show one waiting', 'notice of one: reading 2', 'notice of one: done 3']);
  });

  it('are not confused with those added by others', async () => {
    await intake.add(['docs']);
    peer.emit('knowledge.progress', item({ itemId: 'two', state: 'done' }));
    expect(told).toEqual(['show one waiting']);
  });

  it('share one notice when added twice', async () => {
    await intake.add(['docs']);
    await intake.add(['docs']);
    expect(told).toEqual(['show one waiting']);
  });

  it('report a rejection by the server', async () => {
    peer.results['knowledge.add'] = () => new Refusal(-32000, 'outside the folders');
    await intake.add(['../x']);
    expect(told).toEqual(['refused ../x: outside the folders']);
  });

  it('are queried after a reconnect', async () => {
    await intake.add(['docs']);
    peer.results['knowledge.list'] = { items: [item({ state: 'done', done: 3 })] };
    peer.lose();
    await peer.comeBack();
    expect(told).toEqual(['show one waiting', 'notice of one: done 3']);
  });
});
