import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { codeIn } from '../src/shared/words';
import { Grants } from '../src/features/approvals/grants';
import type { GrantInfo } from '../src/protocol/wire';
import { Peer, Refusal, settle } from './peer';

let peer: Peer;
let grants: Grants;

const grant = (id: string, createdAt: string): GrantInfo => ({
  id,
  tool: 'exec',
  what: `\`ls ${id}\` in /home/ada`,
  agentId: 'main',
  createdAt,
  by: 'ada'
});
const OLD = grant('old', '2026-11-20T10:00:00Z');
const NEW = grant('new', '2026-11-21T10:00:00Z');
const ids = () => grants.grants?.map(one => one.id);

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'grants.list': { grants: [OLD, NEW] }, 'grants.revoke': { ok: true } };
  peer.connect();
  grants = new Grants(peer.client);
});
afterEach(() => {
  grants.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('the list of grants', () => {
  it('is loaded when shown, newest first, and not before', async () => {
    peer.emit('grants.updated', {});
    await settle();
    expect(peer.askedFor('grants.list')).toHaveLength(0);
    await grants.open();
    expect(ids()).toEqual(['new', 'old']);
  });

  it('is reloaded when it changes elsewhere while shown', async () => {
    await grants.open();
    peer.results['grants.list'] = { grants: [NEW] };
    peer.emit('grants.updated', {});
    await vi.advanceTimersByTimeAsync(1000);
    expect(ids()).toEqual(['new']);
    peer.emit('grants.updated', {});
    grants.close();
    peer.emit('grants.updated', {});
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.askedFor('grants.list')).toHaveLength(2);
  });

  it('removes a revoked grant, and says which one', async () => {
    await grants.open();
    await grants.revoke(NEW);
    expect(peer.askedFor('grants.revoke')).toEqual([{ grantId: 'new' }]);
    expect(ids()).toEqual(['old']);
    expect(grants.revoked).toBe(NEW);
  });

  it('keeps a grant that could not be revoked, and says why', async () => {
    await grants.open();
    peer.results['grants.revoke'] = new Refusal(-32000, 'The disk is full.');
    await grants.revoke(NEW);
    expect(ids()).toEqual(['new', 'old']);
    await grants.load();
    expect([grants.refusal, grants.problem]).toEqual(['The disk is full.', null]);
    expect(grants.revoked).toBeNull();
  });

  it('says why it could not be loaded, and is loaded after a reconnect', async () => {
    peer.results['grants.list'] = new Refusal(-32000, 'grants.json is damaged.');
    await grants.open();
    expect(grants.grants).toBeNull();
    expect(grants.problem).toBe('grants.json is damaged.');
    peer.lose();
    peer.results['grants.list'] = { grants: [OLD] };
    await peer.comeBack();
    expect(ids()).toEqual(['old']);
    expect(grants.problem).toBeNull();
  });

  it('shows the newer of two loads, whichever answer comes last', async () => {
    await grants.open();
    const waiting: Array<{ id: string; socket: { frame: (value: unknown) => void } }> = [];
    peer.results['grants.list'] = undefined;
    void grants.load();
    void grants.load();
    await settle();
    for (const asked of peer.socket.asked.filter(one => one.method === 'grants.list').slice(1)) {
      waiting.push({ id: asked.id, socket: peer.socket });
    }
    waiting[1].socket.frame({ id: waiting[1].id, result: { grants: [NEW] } });
    await settle();
    waiting[0].socket.frame({ id: waiting[0].id, result: { grants: [OLD, NEW] } });
    await settle();
    expect(ids()).toEqual(['new']);
  });
});

describe('code in a label', () => {
  it('is the text between backticks', () => {
    expect(codeIn('`ls -l` and `pwd`, each exactly so, in /home')).toEqual([
      '',
      'ls -l',
      ' and ',
      'pwd',
      ', each exactly so, in /home'
    ]);
  });

  it('may itself contain backticks', () => {
    const text = "`echo 'a`b'`, exactly so, in /home";
    expect(codeIn(text)).toEqual([text]);
  });
});
