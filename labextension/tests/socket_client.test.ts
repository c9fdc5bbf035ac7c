import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ConnectionLost, RequestError, RequestTimeout } from '../src/protocol/frames';
import { Peer, Refusal, settle } from './peer';

let peer: Peer;

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
});
afterEach(() => {
  peer.client.dispose();
  vi.useRealTimers();
});

describe('SocketClient', () => {
  it('matches answers to requests in any order', async () => {
    peer.connect();
    const first = peer.client.request('chat.abort', { runId: 'a' });
    const second = peer.client.request('chat.abort', { runId: 'b' });
    const [one, two] = peer.socket.asked;
    peer.socket.frame({ id: two.id, result: { ok: false } });
    peer.socket.frame({ id: one.id, result: { ok: true } });
    expect(await first).toEqual({ ok: true });
    expect(await second).toEqual({ ok: false });
  });

  it('rejects with the server’s code and message', async () => {
    peer.results['sessions.get'] = new Refusal(-32602, 'sessionKey: no such session');
    peer.connect();
    const error = await peer.client
      .request('sessions.get', { sessionKey: 'x' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ code: -32602, message: 'sessionKey: no such session' });
  });

  it('fails a request immediately without a connection, and sends nothing later', async () => {
    const error = await peer.client.request('agents.list', {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionLost);
    expect((error as ConnectionLost).sent).toBe(false);
    peer.connect();
    expect(peer.socket.asked).toEqual([]);
  });

  it('fails pending requests on disconnect, as already sent', async () => {
    peer.connect();
    const waiting = peer.client.request('agents.list', {}).catch((reason: unknown) => reason);
    peer.lose();
    expect(await waiting).toMatchObject({ name: 'ConnectionLost', sent: true });
  });

  it('times out a request and ignores the late answer', async () => {
    peer.connect();
    const waiting = peer.client.request('agents.list', {}, 1000).catch((reason: unknown) => reason);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await waiting).toBeInstanceOf(RequestTimeout);
    expect(() => peer.socket.frame({ id: peer.socket.asked[0].id, result: {} })).not.toThrow();
  });

  it('reconnects automatically with growing delays up to 15 s', async () => {
    peer.connect();
    peer.lose();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const before = peer.sockets.length;
      let waited = 0;
      while (peer.sockets.length === before) {
        await vi.advanceTimersByTimeAsync(100);
        waited += 100;
      }
      waits.push(waited);
      peer.lose();
    }
    expect(waits.slice(0, 5)).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(Math.max(...waits)).toBe(15_000);
  });

  it('gives up on a connection that never opens', async () => {
    peer.client.connect();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(peer.sockets[0].isClosed).toBe(true);
    expect(peer.client.state).toBe('offline');
  });

  it('ignores unknown frames', async () => {
    peer.connect();
    const seen: unknown[] = [];
    peer.client.event.connect((_, frame) => seen.push(frame));
    peer.socket.onmessage?.({ data: 'not json' });
    peer.socket.frame(null);
    peer.socket.frame({ hello: 1 });
    peer.socket.frame({ id: 'unknown', result: 1 });
    expect(seen).toEqual([]);
    expect(peer.client.state).toBe('open');
  });

  it('detects a dead connection after sleep and reconnects', async () => {
    peer.connect();
    const probing = peer.client.probe();
    await vi.advanceTimersByTimeAsync(5000);
    await probing;
    expect(peer.sockets).toHaveLength(2);
    expect(peer.sockets[0].isClosed).toBe(true);
  });

  it('never reconnects after disposal', async () => {
    peer.connect();
    peer.client.dispose();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(peer.sockets).toHaveLength(1);
    expect(peer.sockets[0].isClosed).toBe(true);
  });
});

describe('SessionEvents', () => {
  let serverSinceMs = 0;
  const seqs = () => {
    const seen: number[] = [];
    peer.events.event.connect((_, { frame }) => seen.push((frame.data as { seq: number }).seq));
    return seen;
  };
  const started = (seq: number) => peer.emit('chat.started', { runId: 'r', sessionKey: 's', seq });
  const delta = (seq: number) => peer.emit('chat.delta', { runId: 'r', seq, text: 'x' });

  beforeEach(() => {
    peer.results['approvals.list'] = { approvals: [] };
    peer.results['questions.list'] = { questions: [] };
    peer.results['sessions.subscribe'] = { seq: 0 };
    peer.results['health.check'] = () => ({ uptime: (Date.now() - serverSinceMs) / 1000 });
  });

  it('knows the session of a delta from its run’s start', async () => {
    peer.connect();
    await peer.events.follow('s');
    const keys: string[] = [];
    peer.events.event.connect((_, { sessionKey }) => keys.push(sessionKey));
    delta(1);
    started(2);
    delta(3);
    expect(keys).toEqual(['s', 's']);
  });

  it('drops events it has seen', async () => {
    peer.connect();
    await peer.events.follow('s');
    const seen = seqs();
    [1, 2, 2, 1, 3].forEach(started);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('resumes after the last event on reconnect, each event once', async () => {
    peer.connect();
    await peer.events.follow('s');
    const seen = seqs();
    started(1);
    delta(2);
    peer.lose();
    const broken: string[] = [];
    peer.events.broken.connect((_, key) => broken.push(key));
    peer.results['sessions.subscribe'] = () => {
      queueMicrotask(() => [2, 3, 4].forEach(delta));
      return { seq: 4 };
    };
    await peer.comeBack();
    expect(peer.askedFor('sessions.subscribe')[1]).toEqual({ sessionKey: 's', afterSeq: 2 });
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(broken).toEqual([]);
  });

  it('does not restart from zero if following failed while disconnected', async () => {
    await expect(peer.events.follow('s')).rejects.toThrow();
    peer.connect();
    await settle();
    expect(peer.askedFor('sessions.subscribe')).toEqual([]);
    await peer.events.follow('s');
    expect(peer.askedFor('sessions.subscribe')).toEqual([{ sessionKey: 's' }]);
  });

  it('reloads a session after a restart, even if the new server has reached the same number', async () => {
    peer.connect();
    await settle();
    await peer.events.follow('s');
    const broken: string[] = [];
    peer.events.broken.connect((_, key) => {
      broken.push(key);
      void peer.events.follow(key);
    });
    const seen = seqs();
    started(2);
    peer.lose();
    serverSinceMs = Date.now() + 5_000;
    peer.results['sessions.subscribe'] = { seq: 4 };
    await peer.comeBack();
    expect(broken).toEqual(['s']);
    started(1);
    expect(seen).toEqual([2, 1]);
  });

  it('requests a reload when the server’s numbering restarts', async () => {
    peer.connect();
    await peer.events.follow('s');
    const broken: string[] = [];
    peer.events.broken.connect((_, key) => broken.push(key));
    started(7);
    peer.lose();
    peer.results['sessions.subscribe'] = { seq: 1 };
    await peer.comeBack();
    expect(broken).toEqual(['s']);
    const seen = seqs();
    started(1);
    expect(seen).toEqual([1]);
  });

  it('requests a reload when the server no longer has the missed events', async () => {
    peer.connect();
    await peer.events.follow('s');
    const broken: string[] = [];
    peer.events.broken.connect((_, key) => broken.push(key));
    started(1);
    peer.lose();
    peer.results['sessions.subscribe'] = { seq: 9 };
    await peer.comeBack();
    expect(broken).toEqual(['s']);
  });
});
