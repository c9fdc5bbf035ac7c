import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ActionError, NotebookBridge } from '../src/features/notebooks/notebook_bridge';
import type { Action } from '../src/features/notebooks/notebook_bridge';
import type { OpenNotebook } from '../src/protocol/wire';
import { Peer, settle } from './peer';

let peer: Peer;
let open: OpenNotebook[];
let folder: string | null;
let cards: string[];
let bridge: NotebookBridge;
let actions: Record<string, Action>;

const ask = (requestId: string, action: string, params = {}) =>
  peer.emit('client.request', { requestId, action, params });

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'client.update': { ok: true }, 'client.respond': { ok: true } };
  open = [{ path: 'a.ipynb', active: true }];
  actions = { 'notebook.read': async () => ({ cells: [] }) };
  cards = [];
  folder = 'work';
  bridge = new NotebookBridge(
    peer.client,
    actions,
    () => open,
    () => cards,
    () => folder
  );
});
afterEach(() => {
  bridge.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('NotebookBridge', () => {
  it('reports open notebooks after each connect, and again only when they change', async () => {
    peer.connect();
    bridge.announce();
    expect(peer.askedFor('client.update')).toEqual([
      { notebooks: open, cards: [], folder, pageId: expect.any(String) }
    ]);
    open = [];
    bridge.announce();
    expect(peer.askedFor('client.update')).toHaveLength(2);
    cards = ['application/vnd.onyx.turn+json'];
    bridge.announce();
    expect(peer.askedFor('client.update')[2]).toMatchObject({ notebooks: [], cards });
    folder = '';
    bridge.announce();
    expect(peer.askedFor('client.update')[3]).toMatchObject({ folder: '' });
    peer.lose();
    await peer.comeBack();
    expect(peer.askedFor('client.update')).toHaveLength(5);
    const pages = peer.askedFor('client.update').map(update => (update as { pageId: string }).pageId);
    expect(new Set(pages).size).toBe(1);
  });

  it('answers each request exactly once, with its own id', async () => {
    peer.connect();
    ask('1', 'notebook.read');
    ask('2', 'notebook.read');
    await settle();
    expect(peer.askedFor('client.respond')).toEqual([
      { requestId: '1', result: { cells: [] } },
      { requestId: '2', result: { cells: [] } }
    ]);
  });

  it('passes a rejection on with its code and data', async () => {
    actions['notebook.edit'] = async () => {
      throw new ActionError('stale', 'The cell was changed in the meantime.', { source: 'now' });
    };
    peer.connect();
    ask('1', 'notebook.edit');
    await settle();
    expect(peer.askedFor('client.respond')).toEqual([
      {
        requestId: '1',
        error: { code: 'stale', message: 'The cell was changed in the meantime.', data: { source: 'now' } }
      }
    ]);
  });

  it('rejects unknown actions, including names of object properties', async () => {
    peer.connect();
    ask('1', 'notebook.burn');
    ask('2', 'toString');
    await settle();
    const codes = peer.askedFor('client.respond').map(answer => (answer.error as { code: string }).code);
    expect(codes).toEqual(['bad_request', 'bad_request']);
  });

  it('reports a bug in an action as an internal error', async () => {
    const silence = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    actions['notebook.run'] = async () => {
      throw new TypeError('boom');
    };
    peer.connect();
    ask('1', 'notebook.run');
    await settle();
    expect(peer.askedFor('client.respond')).toMatchObject([{ requestId: '1', error: { code: 'internal' } }]);
    silence.mockRestore();
  });

  it('is silent after disposal', async () => {
    peer.connect();
    bridge.dispose();
    ask('1', 'notebook.read');
    await settle();
    expect(peer.askedFor('client.respond')).toEqual([]);
  });
});
