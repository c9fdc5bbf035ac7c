import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { isRun, messagesOf } from '../src/features/chat/conversation';
import type { Item, Part } from '../src/features/chat/conversation';
import { asMarkdown } from '../src/features/sessions/export_markdown';
import { Session } from '../src/features/chat/session';
import type { Entry, SessionInfo } from '../src/protocol/wire';
import { Peer, settle } from './peer';

let peer: Peer;
let session: Session;
let seq = 0;
let lastEntry = 0;

const INFO: SessionInfo = {
  sessionKey: 's',
  agentId: 'main',
  title: 'Churn',
  createdAt: '2026-11-21T10:00:00Z',
  updatedAt: '2026-11-21T10:00:00Z',
  messageCount: 2,
  tokenCount: 0,
  lastMessagePreview: '',
  status: 'active',
  activity: 'idle'
};
const entry = (role: Entry['role'], content: string, meta: Record<string, unknown>, id?: string): Entry => ({
  v: 1,
  id: id ?? `e${++lastEntry}`,
  ts: '2026-11-21T10:00:00Z',
  role,
  content,
  meta
});
const stored = (messages: Entry[], info: Partial<SessionInfo> = {}) => {
  peer.results['sessions.get'] = { session: { ...INFO, ...info }, messages };
};
const begin = async (key: string | null = 's') => {
  session = new Session(
    { client: peer.client, events: peer.events, nowMs: () => 0, onFrame: () => () => undefined },
    key
  );
  await settle();
};
const run = (runId: string) => ({ runId, sessionKey: 's', seq: ++seq });
const steered = (messageId: string, text: string) =>
  peer.emit('chat.steered', { ...run('r1'), messageId, text });
const joined = (...messageIds: string[]) => peer.emit('chat.joined', { ...run('r1'), messageIds });
const tool = (callId: string) => {
  peer.emit('tool.started', { ...run('r1'), callId, tool: 'exec', input: { command: 'ls' } });
  peer.emit('tool.finished', { ...run('r1'), callId, tool: 'exec', ok: true, output: '', status: 'ok' });
};
const final = (runId: string, text = '') =>
  peer.emit('chat.final', { ...run(runId), text, usage: { inputTokens: 1, outputTokens: 1 } });

/** One line for each thing that is shown; what stands in a run is put in. */
const shown = () => session.items.flatMap(line);
const line = (item: Item): string[] =>
  isRun(item)
    ? [`run ${item.status}`, ...item.parts.map(part)]
    : [`You: ${item.text}${item.steers ? ' (joins)' : ''}`];
const part = (one: Part): string => {
  switch (one.kind) {
    case 'text':
      return `  ${one.text}`;
    case 'thought':
      return `  (${one.text})`;
    case 'tool':
      return `  ${one.call.tool} ${one.call.status}`;
    case 'note':
      return `  note`;
    case 'said':
      return `  You: ${one.message.text}`;
  }
};

beforeEach(() => {
  vi.useFakeTimers();
  seq = 0;
  peer = new Peer();
  peer.results = {
    'sessions.subscribe': () => ({ seq }),
    'approvals.list': { approvals: [] },
    'questions.list': { questions: [] },
    'chat.history': { messages: [entry('user', 'plot', { runId: 'r1' })] },
    'chat.send': { runId: 'r1', delivery: 'steer' }
  };
  stored([]);
  peer.connect();
});
afterEach(() => {
  session.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('a message sent during a run', () => {
  const atWork = async () => {
    await begin();
    peer.emit('chat.started', run('r1'));
    await settle();
  };

  it('waits below the run and then moves to where it joined, with later content below', async () => {
    await atWork();
    tool('c1');
    session.send('rather a table');
    await settle();
    steered('m1', 'rather a table');
    expect(shown()).toEqual(['You: plot', 'run running', '  exec ok', 'You: rather a table (joins)']);
    joined('m1');
    tool('c2');
    final('r1', 'Here it is.');
    expect(shown()).toEqual([
      'You: plot',
      'run final',
      '  exec ok',
      '  You: rather a table',
      '  exec ok',
      '  Here it is.'
    ]);
  });

  it('is shown once, whether its event or its answer comes first', async () => {
    await atWork();
    peer.results['chat.send'] = () => {
      steered('m1', 'first the event');
      return { runId: 'r1', delivery: 'steer' };
    };
    session.send('first the event');
    await settle();
    peer.results['chat.send'] = { runId: 'r1', delivery: 'steer' };
    session.send('first the answer');
    await settle();
    steered('m2', 'first the answer');
    expect(shown().slice(2)).toEqual(['You: first the event (joins)', 'You: first the answer (joins)']);
    expect(messagesOf(session.items).map(message => message.id)).toEqual([expect.any(String), 'm1', 'm2']);
    joined('m1', 'm2');
    expect(shown().slice(1)).toEqual(['run running', '  You: first the event', '  You: first the answer']);
  });

  it('may have joined before its answer arrives', async () => {
    await atWork();
    peer.results['chat.send'] = () => {
      steered('m1', 'now');
      joined('m1');
      final('r1', 'Done.');
      return { runId: 'r1', delivery: 'steer' };
    };
    session.send('now');
    await settle();
    expect(shown()).toEqual(['You: plot', 'run final', '  You: now', '  Done.']);
  });

  it('sent twice with the same text is shown twice', async () => {
    await atWork();
    session.send('go on');
    session.send('go on');
    await settle();
    steered('m1', 'go on');
    steered('m2', 'go on');
    expect(shown().slice(2)).toEqual(['You: go on (joins)', 'You: go on (joins)']);
    joined('m1');
    expect(shown().slice(2)).toEqual(['  You: go on', 'You: go on (joins)']);
  });

  it('in another tab is shown here too', async () => {
    await atWork();
    steered('m1', 'from there');
    expect(shown().slice(2)).toEqual(['You: from there (joins)']);
  });

  it('in another tab does not hide the run’s own question', async () => {
    await begin();
    peer.emit('chat.started', run('r1'));
    steered('m1', 'from there');
    await settle();
    expect(shown()).toEqual(['You: plot', 'run running', 'You: from there (joins)']);
  });

  it('for after the answer is marked so for the server, and has its own run', async () => {
    await atWork();
    peer.results['chat.send'] = { runId: 'r2', delivery: 'followup' };
    session.send('then this', [], undefined, 'followup');
    await settle();
    expect(peer.askedFor('chat.send')).toMatchObject([
      { message: 'then this', whenBusy: 'followup', typed: true }
    ]);
    final('r1', 'Done.');
    peer.emit('chat.started', run('r2'));
    expect(shown().slice(1)).toEqual(['run final', '  Done.', 'You: then this', 'run running']);
  });

  it('whose answer was lost is not resent if an event reported it', async () => {
    await atWork();
    peer.results['chat.send'] = undefined;
    session.send('once');
    await settle();
    steered('m1', 'once');
    peer.lose();
    peer.results['chat.send'] = { runId: 'r1', delivery: 'steer' };
    await peer.comeBack();
    expect(peer.askedFor('chat.send')).toHaveLength(1);
    expect(shown().slice(2)).toEqual(['You: once (joins)']);
  });

  it('whose answer was lost is found in the transcript, and stays single on reload', async () => {
    await atWork();
    peer.results['chat.send'] = undefined;
    session.send('once');
    await settle();
    peer.lose();
    const lines = [
      entry('user', 'plot', { runId: 'r1' }, 'm0'),
      entry('user', 'once', { runId: 'r1', steer: true }, 'm1')
    ];
    peer.results['chat.history'] = { messages: lines };
    stored(lines, { activity: 'running' });
    peer.results['chat.send'] = { runId: 'r1', delivery: 'steer' };
    void session.reload();
    await peer.comeBack();
    expect(peer.askedFor('chat.send')).toHaveLength(1);
    expect(messagesOf(session.items).map(message => message.text)).toEqual(['plot', 'once']);
  });
});

describe('a reloaded session', () => {
  const call = { ...entry('assistant', 'I look.', { runId: 'r1' }) };
  const lines = [
    entry('user', 'plot', { runId: 'r1' }),
    call,
    entry('user', 'as a table', { runId: 'r1', steer: true }, 'm1'),
    entry('system', '', { kind: 'steer_joined', runId: 'r1', messageIds: ['m1'] }),
    entry('assistant', 'A table.', { runId: 'r1' })
  ];

  it('shows joined messages in place', async () => {
    stored([...lines, entry('system', '', { kind: 'run_end', runId: 'r1', outcome: 'final' })]);
    await begin();
    expect(shown()).toEqual(['You: plot', 'run final', '  I look.', '  You: as a table', '  A table.']);
    expect(asMarkdown(session.items)).toBe(
      '**You**\n\nplot\n\n**Onyx**\n\nI look.\n\n**You**\n\nas a table\n\n**Onyx**\n\nA table.'
    );
  });

  it('during the run takes joined messages from the events, once', async () => {
    stored(lines, { activity: 'running' });
    peer.results['sessions.subscribe'] = (_: unknown, socket: { frame: (value: unknown) => void }) => {
      const send = (event: string, data: object) => socket.frame({ event, data: { ...run('r1'), ...data } });
      void Promise.resolve().then(() => {
        send('chat.started', {});
        send('chat.delta', { text: 'I look.' });
        send('chat.steered', { messageId: 'm1', text: 'as a table' });
        send('chat.joined', { messageIds: ['m1'] });
        send('chat.delta', { text: 'A table.' });
      });
      return { seq: 5 };
    };
    await begin();
    expect(shown()).toEqual(['You: plot', 'run running', '  I look.', '  You: as a table', '  A table.']);
  });

  it('after Stop keeps messages that had not joined below the run', async () => {
    stored([...lines.slice(0, 3), entry('system', '', { kind: 'run_end', runId: 'r1', outcome: 'aborted' })]);
    await begin();
    expect(shown()).toEqual(['You: plot', 'run aborted', '  I look.', 'You: as a table (joins)']);
  });

  it('after a restart gives messages that had not joined their own run', async () => {
    stored([
      ...lines.slice(0, 3),
      entry('system', '', { kind: 'run_end', runId: 'r1', outcome: 'interrupted' }),
      entry('system', '', { kind: 'requeued', messageId: 'm1', runId: 'r2' }),
      entry('system', '', { kind: 'run_start', runId: 'r2' }),
      entry('assistant', 'A table.', { runId: 'r2' }),
      entry('system', '', { kind: 'run_end', runId: 'r2', outcome: 'final' })
    ]);
    await begin();
    expect(shown()).toEqual([
      'You: plot',
      'run interrupted',
      '  I look.',
      'You: as a table',
      'run final',
      '  A table.'
    ]);
  });

  it('retries a failed run with its original message, not with a joined one', async () => {
    stored([...lines, entry('system', '', { kind: 'run_end', runId: 'r1', outcome: 'error', code: 'x' })]);
    await begin();
    session.retry(session.items.filter(isRun)[0]);
    await settle();
    expect(peer.askedFor('chat.send').map(params => params.message)).toEqual(['plot']);
  });
});
