import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { isRun, waitingCalls } from '../src/features/chat/conversation';
import type { Run, UserMessage } from '../src/features/chat/conversation';
import { Session } from '../src/features/chat/session';
import type { ApprovalInfo, Entry, QuestionInfo, SessionInfo } from '../src/protocol/wire';
import { Peer, Refusal, settle } from './peer';

let peer: Peer;
let frames: Array<() => void>;
let session: Session;

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

let lastEntry = 0;
const entry = (role: Entry['role'], content: string, rest: Partial<Entry> = {}): Entry => ({
  v: 1,
  id: `e${++lastEntry}`,
  ts: '2026-11-21T10:00:00Z',
  role,
  content,
  ...rest
});
const approval = (rest: Partial<ApprovalInfo> = {}): ApprovalInfo => ({
  approvalId: 'a1',
  runId: 'r1',
  callId: 'c1',
  toolName: 'exec',
  summary: 'Run ls',
  details: { command: 'ls', cwd: '.' },
  expiresAt: '2026-11-21T10:10:00Z',
  sessionKey: 's',
  ...rest
});

const stored = (messages: Entry[], info: Partial<SessionInfo> = {}) => {
  peer.results['sessions.get'] = { session: { ...INFO, ...info }, messages };
};
const begin = async (key: string | null) => {
  session = new Session(
    {
      client: peer.client,
      events: peer.events,
      nowMs: () => Date.now(),
      onFrame: callback => {
        frames.push(callback);
        return () => undefined;
      }
    },
    key
  );
  await settle();
};
let seq = 0;
const run = (runId: string) => ({ runId, sessionKey: 's', seq: ++seq });
const delta = (runId: string, text: string) => peer.emit('chat.delta', { runId, seq: ++seq, text });
const drawFrame = () => frames.splice(0).forEach(callback => callback());
const runs = () => session.items.filter(isRun);
const said = () => session.items.filter((item): item is UserMessage => !isRun(item));
const texts = (of: Run) => of.parts.flatMap(part => (part.kind === 'text' ? [part.text] : []));
const calls = (of: Run) => of.parts.flatMap(part => (part.kind === 'tool' ? [part.call] : []));

beforeEach(() => {
  vi.useFakeTimers();
  seq = 0;
  frames = [];
  peer = new Peer();
  peer.results = {
    'sessions.create': { sessionKey: 's' },
    'sessions.subscribe': () => ({ seq }),
    'approvals.list': { approvals: [] },
    'questions.list': { questions: [] },
    'chat.history': { messages: [] },
    'chat.send': { runId: 'r1' },
    'exec.approve': { ok: true },
    'questions.answer': { ok: true }
  };
  stored([]);
  peer.connect();
});
afterEach(() => {
  session.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('a skill run', () => {
  it('is created on the server by the first message, and shows activity immediately', async () => {
    await begin(null);
    expect(peer.askedFor('sessions.create')).toHaveLength(0);
    session.send('hello');
    await settle();
    expect(peer.askedFor('sessions.create')).toHaveLength(1);
    expect(peer.askedFor('chat.send')).toMatchObject([{ sessionKey: 's', message: 'hello' }]);
    expect(runs()).toMatchObject([{ runId: 'r1', status: 'running', parts: [] }]);
  });

  it('batches deltas per frame', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    await settle();
    let changes = 0;
    session.changed.connect(() => (changes += 1));
    for (let count = 0; count < 200; count += 1) {
      delta('r1', 'x');
    }
    expect(changes).toBe(0);
    drawFrame();
    expect(changes).toBe(1);
    expect(texts(runs()[0])).toEqual(['x'.repeat(200)]);
  });

  it('batches thoughts per frame, in their place before the answer', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    let changes = 0;
    session.changed.connect(() => (changes += 1));
    for (let count = 0; count < 200; count += 1) {
      peer.emit('chat.thought', { runId: 'r1', seq: ++seq, text: 'x' });
    }
    peer.emit('chat.thought', { runId: 'r1', seq: ++seq, text: '', seconds: 8 });
    delta('r1', 'So.');
    expect(changes).toBe(0);
    drawFrame();
    expect(changes).toBe(1);
    expect(runs()[0].parts).toMatchObject([
      { kind: 'thought', text: 'x'.repeat(200), seconds: 8 },
      { kind: 'text', text: 'So.' }
    ]);
  });

  it('keeps text and calls in order of arrival', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    delta('r1', 'before');
    peer.emit('tool.started', { ...run('r1'), callId: 'c1', tool: 'exec', input: { command: 'ls' } });
    peer.emit('tool.finished', { ...run('r1'), callId: 'c1', tool: 'exec', ok: true, output: 'files' });
    delta('r1', 'after');
    peer.emit('chat.final', { ...run('r1'), text: 'after', usage: { inputTokens: 3, outputTokens: 2 } });
    expect(
      runs()[0].parts.map(part =>
        part.kind === 'tool' ? part.call.status : part.kind === 'text' ? part.text : ''
      )
    ).toEqual(['before', 'ok', 'after']);
    expect(runs()[0]).toMatchObject({ status: 'final', usage: { inputTokens: 3, outputTokens: 2 } });
  });

  it('shows a call that never started as skipped, with its label', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    const skipped = {
      callId: 'c1',
      tool: 'exec',
      ok: false,
      output: 'Skipped: …',
      status: 'skipped' as const
    };
    peer.emit('tool.finished', { ...run('r1'), ...skipped, input: { command: 'ls' } });
    expect(calls(runs()[0])).toMatchObject([{ status: 'skipped', input: { command: 'ls' } }]);
  });

  it('shows a final text without deltas, and never twice', async () => {
    await begin('s');
    const usage = { inputTokens: 1, outputTokens: 1 };
    peer.emit('chat.started', run('r1'));
    peer.emit('chat.final', { ...run('r1'), text: 'whole', usage });
    peer.emit('chat.started', run('r2'));
    delta('r2', 'whole');
    peer.emit('chat.final', { ...run('r2'), text: 'whole', usage });
    expect(runs().map(texts)).toEqual([['whole'], ['whole']]);
  });

  it('says what went wrong and what to do', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    peer.emit('chat.error', {
      ...run('r1'),
      code: 'auth',
      message: 'The key is not valid.',
      hint: 'Set a key.'
    });
    expect(runs()[0]).toMatchObject({
      status: 'error',
      problem: { code: 'auth', message: 'The key is not valid.', hint: 'Set a key.' }
    });
  });

  it('ends its open calls when stopped', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    peer.emit('tool.started', { ...run('r1'), callId: 'c1', tool: 'exec', input: {} });
    peer.emit('chat.aborted', run('r1'));
    expect(runs()[0].status).toBe('aborted');
    expect(calls(runs()[0])[0].status).toBe('aborted');
    expect(session.isRunning).toBe(false);
  });

  it.each(['chat.aborted', 'chat.error'] as const)('says what it used also after %s', async event => {
    await begin('s');
    const usage = { inputTokens: 20, outputTokens: 3, estimated: true };
    peer.emit('chat.started', run('r1'));
    peer.emit(event, { ...run('r1'), code: 'unavailable', message: 'Cut off.', usage });
    expect(runs()[0].usage).toEqual(usage);
  });
});

describe('an approval', () => {
  it('waits, and runs once approved', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    peer.emit('exec.approval_request', { ...approval(), seq: ++seq });
    expect(waitingCalls(session.items).map(call => call.approval?.approvalId)).toEqual(['a1']);
    peer.emit('exec.approval_resolved', {
      approvalId: 'a1',
      decision: 'approved',
      by: 'you',
      sessionKey: 's',
      seq: ++seq
    });
    expect(waitingCalls(session.items)).toEqual([]);
    expect(calls(runs()[0])[0].status).toBe('running');
  });

  it('shows a denied call as denied with its reason, never as failed', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    peer.emit('exec.approval_request', { ...approval(), seq: ++seq });
    const resolved = { approvalId: 'a1', by: 'you', sessionKey: 's', reason: 'use seaborn' };
    peer.emit('exec.approval_resolved', { ...resolved, decision: 'denied', seq: ++seq });
    peer.emit('tool.finished', { ...run('r1'), callId: 'c1', tool: 'exec', ok: false, output: 'Denied' });
    expect(calls(runs()[0])[0]).toMatchObject({ status: 'denied', decision: { reason: 'use seaborn' } });
  });

  it('is restored after a reload, even after a server restart', async () => {
    const asked = entry('assistant', 'I will look.', {
      tool_calls: [{ id: 'c1', name: 'exec', arguments: { command: 'ls' } }],
      meta: { runId: 'r1' }
    });
    const waits = entry('system', '', { meta: { kind: 'approval_request', ...approval() } });
    stored([entry('user', 'look', { meta: { runId: 'r1' } }), asked, waits]);
    peer.results['approvals.list'] = { approvals: [approval()] };
    await begin('s');
    expect(waitingCalls(session.items)).toHaveLength(1);
    await session.approve('a1', 'once', 'v1');
    expect(peer.askedFor('exec.approve')).toEqual([{ approvalId: 'a1', scope: 'once', version: 'v1' }]);
  });
});

describe('loading a session', () => {
  const history = [
    entry('user', 'plot', { meta: { runId: 'r1' } }),
    entry('assistant', 'I run it.', {
      tool_calls: [{ id: 'c1', name: 'exec', arguments: { command: 'ls' } }],
      meta: { runId: 'r1' }
    }),
    entry('tool', 'no such file', {
      tool_call_id: 'c1',
      meta: { runId: 'r1', ok: false, status: 'failed', durationMs: 40 }
    }),
    entry('assistant', 'It failed.', { meta: { runId: 'r1' }, usage: { inputTokens: 5, outputTokens: 6 } }),
    entry('system', '', { meta: { kind: 'run_end', runId: 'r1', outcome: 'final' } })
  ];

  it('shows the conversation unchanged', async () => {
    stored(history);
    await begin('s');
    expect(said().map(message => message.text)).toEqual(['plot']);
    expect(runs()[0]).toMatchObject({ status: 'final', usage: { inputTokens: 5, outputTokens: 6 } });
    expect(calls(runs()[0])[0]).toMatchObject({ status: 'failed', output: 'no such file', durationMs: 40 });
    expect(texts(runs()[0])).toEqual(['I run it.', 'It failed.']);
  });

  it('takes an active run from its events only, not also from the transcript', async () => {
    const going = [
      entry('user', 'more', { meta: { runId: 'r2' } }),
      entry('assistant', 'Half', { meta: { runId: 'r2' } })
    ];
    stored([...history, ...going], { activity: 'running' });
    peer.results['sessions.subscribe'] = (_: unknown, socket: { frame: (value: unknown) => void }) => {
      void Promise.resolve().then(() => {
        socket.frame({ event: 'chat.started', data: run('r2') });
        socket.frame({ event: 'chat.delta', data: { runId: 'r2', seq: ++seq, text: 'Half of it' } });
      });
      return { seq: 2 };
    };
    await begin('s');
    expect(said().map(message => message.text)).toEqual(['plot', 'more']);
    expect(runs().map(one => one.status)).toEqual(['final', 'running']);
    expect(texts(runs()[1])).toEqual(['Half of it']);
    delta('r2', ', and the rest');
    drawFrame();
    expect(texts(runs()[1])).toEqual(['Half of it, and the rest']);
  });

  it('counts what has no answer of its own', async () => {
    const usage = { inputTokens: 20, outputTokens: 3, estimated: true };
    const ended = entry('system', '', { meta: { kind: 'run_end', runId: 'r1', outcome: 'aborted' }, usage });
    stored([...history.slice(0, -1), ended]);
    await begin('s');
    expect(runs()[0].usage).toMatchObject({ inputTokens: 25, outputTokens: 9, estimated: true });
  });

  it('shows an abandoned run as interrupted', async () => {
    stored([
      entry('user', 'hello', { meta: { runId: 'r9' } }),
      entry('assistant', 'He', { meta: { runId: 'r9' } })
    ]);
    await begin('s');
    expect(runs()[0].status).toBe('interrupted');
  });

  it('says why it cannot be loaded, and retries on demand', async () => {
    peer.results['sessions.get'] = new Refusal(-32602, 'There is no session s.');
    await begin('s');
    expect(session.phase).toBe('failed');
    expect(session.problem?.message).toBe('There is no session s.');
    expect(session.isGone).toBe(false);
    stored(history);
    await session.reload();
    expect(session.phase).toBe('ready');
    expect(session.items).toHaveLength(2);
  });

  it('distinguishes a deleted session', async () => {
    peer.results['sessions.get'] = new Refusal(-32000, 'There is no session s.', { code: 'not_found' });
    await begin('s');
    expect(session.isGone).toBe(true);
  });

  it('is repeated when an unknown run sends text', async () => {
    await begin('s');
    peer.emit('tool.progress', {
      ...run('other'),
      sessionKey: 'elsewhere',
      callId: '',
      tool: 'model',
      message: ''
    });
    expect(session.items).toEqual([]);
    stored(history);
    peer.socket.frame({ event: 'chat.delta', data: { runId: 'r1', sessionKey: 's', seq: ++seq, text: 'x' } });
    await settle();
    expect(session.items).toHaveLength(2);
  });
});

describe('messages', () => {
  it('wait while disconnected and are sent once, in order, after a reconnect', async () => {
    await begin('s');
    peer.lose();
    session.send('one');
    session.send('two');
    await settle();
    expect(said().map(message => message.delivery)).toEqual(['waiting', 'waiting']);
    peer.results['chat.send'] = (params: { message: string }) => ({ runId: `run of ${params.message}` });
    await peer.comeBack();
    expect(peer.askedFor('chat.send').map(params => params.message)).toEqual(['one', 'two']);
    expect(said().map(message => message.delivery)).toEqual(['sent', 'sent']);
  });

  it('are not sent twice if only the answer was lost', async () => {
    await begin('s');
    peer.results['chat.send'] = undefined;
    session.send('one');
    await settle();
    peer.lose();
    peer.results['chat.history'] = { messages: [entry('user', 'one', { meta: { runId: 'r1' } })] };
    await peer.comeBack();
    expect(peer.askedFor('chat.send')).toHaveLength(1);
    expect(said()).toMatchObject([{ delivery: 'sent', runId: 'r1' }]);
  });

  it('are sent again if the server never received them', async () => {
    await begin('s');
    peer.results['chat.send'] = undefined;
    session.send('one');
    await settle();
    peer.lose();
    peer.results['chat.send'] = { runId: 'r1' };
    await peer.comeBack();
    expect(peer.askedFor('chat.send')).toHaveLength(2);
    expect(said()).toMatchObject([{ delivery: 'sent', runId: 'r1' }]);
  });

  it('show the server’s rejection, and can be resent', async () => {
    await begin('s');
    peer.results['chat.send'] = new Refusal(-32000, 'There is no model x.');
    session.send('one');
    await settle();
    expect(said()).toMatchObject([{ delivery: 'failed', problem: { message: 'There is no model x.' } }]);
    peer.results['chat.send'] = { runId: 'r1' };
    session.resend(said()[0]);
    await settle();
    expect(said()).toMatchObject([{ delivery: 'sent', runId: 'r1' }]);
  });

  it('sent during a run follow it, and are followed by their own run', async () => {
    await begin('s');
    peer.emit('chat.started', run('r0'));
    await settle();
    session.send('next');
    await settle();
    expect(session.items.map(item => item.kind)).toEqual(['run', 'user']);
    peer.emit('chat.final', { ...run('r0'), text: 'done', usage: { inputTokens: 1, outputTokens: 1 } });
    peer.emit('chat.started', run('r1'));
    expect(session.items.map(item => (isRun(item) ? item.runId : item.text))).toEqual(['r0', 'next', 'r1']);
  });

  it('precede their own run, also when several are queued', async () => {
    await begin('s');
    peer.emit('chat.started', run('r0'));
    await settle();
    peer.results['chat.send'] = (params: { message: string }) => ({ runId: `run of ${params.message}` });
    session.send('one');
    session.send('two');
    await settle();
    peer.emit('chat.started', run('run of one'));
    expect(session.items.map(item => (isRun(item) ? item.runId : item.text))).toEqual([
      'r0',
      'one',
      'run of one',
      'two'
    ]);
  });

  it('that have not been sent stay when the session is reloaded', async () => {
    await begin('s');
    peer.results['chat.send'] = new Refusal(-32000, 'No.');
    session.send('one');
    await settle();
    await session.reload();
    expect(said().map(message => message.text)).toEqual(['one']);
  });

  it('from another tab are shown above their run', async () => {
    await begin('s');
    peer.results['chat.history'] = { messages: [entry('user', 'from there', { meta: { runId: 'r7' } })] };
    peer.emit('chat.started', run('r7'));
    await settle();
    expect(session.items.map(item => (isRun(item) ? item.runId : item.text))).toEqual(['from there', 'r7']);
  });

  it('are sent again with their own text when a run is retried', async () => {
    await begin('s');
    session.send('plot it');
    await settle();
    peer.emit('chat.error', { ...run('r1'), code: 'network', message: 'No connection' });
    peer.results['chat.send'] = { runId: 'r2' };
    session.retry(runs()[0]);
    await settle();
    expect(peer.askedFor('chat.send').map(params => params.message)).toEqual(['plot it', 'plot it']);
  });
});

describe('questions and notes', () => {
  const question: QuestionInfo = {
    questionId: 'q1',
    runId: 'r1',
    callId: 'c1',
    question: 'Which month?',
    choices: ['March', 'April'],
    freeText: true,
    expiresAt: '2026-11-21T10:30:00Z',
    sessionKey: 's'
  };

  it('wait until someone answers, here or elsewhere', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    const input = { question: 'Which month?' };
    peer.emit('tool.started', { ...run('r1'), callId: 'c1', tool: 'ask_user', input });
    peer.emit('chat.question', question);
    expect(waitingCalls(session.items)).toMatchObject([{ tool: 'ask_user', input, question }]);
    await session.answer('q1', 'March');
    expect(peer.askedFor('questions.answer')).toEqual([{ questionId: 'q1', answer: 'March' }]);
    const resolved = {
      questionId: 'q1',
      callId: 'c1',
      by: 'ada',
      outcome: 'answered' as const,
      answer: 'March'
    };
    peer.emit('chat.question_resolved', { ...run('r1'), ...resolved });
    expect(waitingCalls(session.items)).toEqual([]);
    peer.emit('tool.finished', { ...run('r1'), callId: 'c1', tool: 'ask_user', ok: true, output: 'March' });
    expect(calls(runs()[0])).toMatchObject([{ status: 'ok', questionOutcome: 'answered', output: 'March' }]);
  });

  it('are restored after a reload, the open one once', async () => {
    stored(
      [
        entry('user', 'Go', { meta: { runId: 'r1' } }),
        entry('assistant', '', {
          meta: { runId: 'r1' },
          tool_calls: [{ id: 'c1', name: 'ask_user', arguments: { question: 'Which month?' } }]
        }),
        entry('system', 'MEMORY.md is too long.', {
          meta: { kind: 'note', note: 'bootstrap_over_cap', runId: 'r1', data: {} }
        }),
        entry('system', '', { meta: { kind: 'question', ...question } })
      ],
      { activity: 'waiting' }
    );
    peer.results['questions.list'] = { questions: [question] };
    await begin('s');
    expect(waitingCalls(session.items)).toMatchObject([{ callId: 'c1', question }]);
    expect(runs()[0].parts.map(part => part.kind)).toEqual(['tool', 'note']);
  });

  it('send null to the server when declined', async () => {
    await begin('s');
    await session.answer('q1', null);
    expect(peer.askedFor('questions.answer')).toEqual([{ questionId: 'q1', answer: null }]);
  });

  it('a note keeps its place, and text continues below it', async () => {
    await begin('s');
    peer.emit('chat.started', run('r1'));
    delta('r1', 'one');
    peer.emit('chat.note', { ...run('r1'), kind: 'fallback', message: 'Another model answers.' });
    delta('r1', 'two');
    drawFrame();
    expect(runs()[0].parts.map(part => (part.kind === 'note' ? part.note.message : part.kind))).toEqual([
      'text',
      'Another model answers.',
      'text'
    ]);
  });
});

it('a message from another session is labelled, and the user’s own is not', async () => {
  stored([
    entry('user', 'Mine', { meta: { runId: 'r1' } }),
    entry('user', 'Its own', {
      meta: { runId: 'r2', from: { sessionKey: 'other', agentId: 'main', runId: 'x' } }
    })
  ]);
  await begin('s');
  expect(said().map(message => message.fromSession)).toEqual([undefined, 'other']);
});
