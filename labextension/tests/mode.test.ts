import { beforeEach, describe, expect, it } from 'vitest';

import { isRun, messagesOf } from '../src/features/chat/conversation';
import { Session } from '../src/features/chat/session';
import { TabMemory } from '../src/features/chat/tab_memory';
import type { KeyValueStore } from '../src/features/chat/tab_memory';
import { fromEntries } from '../src/features/chat/transcript';
import { Peer, settle } from './peer';

class Store implements KeyValueStore {
  readonly values = new Map<string, string>();

  getItem(key: string): string | null {
    return this.values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.values.set(key, value);
  }

  removeItem(key: string): void {
    this.values.delete(key);
  }
}

const sentModes = (peer: Peer) => peer.askedFor('chat.send').map(params => params.mode);
const sent = (session: Session) => messagesOf(session.items).map(message => message.mode);

describe('the mode of a message', () => {
  let peer: Peer;
  let session: Session;

  beforeEach(async () => {
    peer = new Peer();
    peer.results = {
      'sessions.create': { sessionKey: 's' },
      'sessions.subscribe': { seq: 0 },
      'chat.send': () => ({ runId: `r${peer.askedFor('chat.send').length}` })
    };
    session = new Session({
      client: peer.client,
      events: peer.events,
      nowMs: () => 0,
      onFrame: () => () => undefined
    });
    peer.connect();
    await settle();
  });

  it('is sent if it is not the default', async () => {
    session.send('one', [], undefined, undefined, 'agent');
    session.send('two', [], undefined, undefined, 'auto');
    await settle();
    expect(sentModes(peer)).toEqual([null, 'auto']);
    expect(sent(session)).toEqual([undefined, 'auto']);
  });

  it('is sent again when a failed message is retried', async () => {
    session.send('one', [], undefined, undefined, 'ask');
    await settle();
    session.retry(session.items.filter(isRun)[0]);
    await settle();
    expect(sentModes(peer)).toEqual(['ask', 'ask']);
  });

  it('is restored after a reload, and an invalid one is not', () => {
    const entry = (id: string, mode: unknown) => ({
      v: 1,
      id,
      ts: '2026-11-21T10:00:00Z',
      role: 'user' as const,
      content: 'x',
      meta: { runId: `r-${id}`, mode }
    });
    const items = fromEntries([entry('a', 'auto'), entry('b', 'root'), entry('c', undefined)]);
    expect(messagesOf(items).map(message => message.mode)).toEqual(['auto', undefined, undefined]);
  });
});

describe('the selected mode', () => {
  it('is remembered per session and tab; another session starts with the default', () => {
    const [own, shared] = [new Store(), new Store()];
    const tab = new TabMemory('onyx:', own, shared);
    expect(tab.mode(null)).toBe('agent');
    tab.setMode(null, 'auto');
    tab.begin('s1');
    expect([tab.mode('s1'), tab.mode(null), tab.mode('s2')]).toEqual(['auto', 'agent', 'agent']);
    expect(new TabMemory('onyx:', own, shared).mode('s1')).toBe('auto');
    expect(new TabMemory('onyx:', new Store(), shared).mode('s1')).toBe('agent');
    tab.setMode('s1', 'agent');
    expect(own.values.size).toBe(0);
  });

  it('is the default if the stored value is invalid', () => {
    const own = new Store();
    own.setItem('onyx:mode:s1', 'root');
    expect(new TabMemory('onyx:', own, null).mode('s1')).toBe('agent');
  });
});
