import { describe, expect, it } from 'vitest';

import { findRun, newRun } from '../src/features/chat/conversation';
import type { Conversation, Run } from '../src/features/chat/conversation';
import { asMarkdown } from '../src/features/sessions/export_markdown';
import { appendText, applyEvent } from '../src/features/chat/run_events';
import { formatDuration, formatSeconds } from '../src/features/chat/tool_words';
import { fromEntries } from '../src/features/chat/transcript';
import type { EventFrame } from '../src/protocol/frames';
import type { ChatThoughtData, Entry } from '../src/protocol/wire';

const run = (parts: Run['parts'] = []): Conversation => [{ ...newRun('r1'), parts }];
const apply = (items: Conversation, event: string, data: object) =>
  applyEvent(items, { event, data: { runId: 'r1', sessionKey: 's', seq: 1, ...data } } as EventFrame, 0);
const think = (items: Conversation, data: Partial<ChatThoughtData>) =>
  apply(items, 'chat.thought', { text: '', ...data });
const say = (items: Conversation, text: string) => appendText(items, 'r1', text);
const note = (items: Conversation) => apply(items, 'chat.note', { kind: 'fallback', message: 'Another.' });
const shown = (items: Conversation) =>
  findRun(items, 'r1')!.parts.map(part =>
    part.kind === 'thought'
      ? `(${part.text}) ${part.seconds ?? '…'}`
      : part.kind === 'text'
        ? part.text
        : part.kind
  );

describe('streaming thoughts', () => {
  it('are one part before the answer, with their duration', () => {
    let items = think(run(), { text: 'I ' });
    items = think(items, { text: 'add.' });
    expect(shown(items)).toEqual(['(I add.) …']);
    items = say(think(items, { seconds: 8 }), 'It is 4.');
    expect(shown(items)).toEqual(['(I add.) 8', 'It is 4.']);
    items = apply(items, 'chat.final', { text: 'It is 4.', usage: { inputTokens: 1, outputTokens: 2 } });
    expect(shown(items)).toEqual(['(I add.) 8', 'It is 4.']);
  });

  it('of another reply are another part', () => {
    let items = think(run(), { text: 'I look.', seconds: 1 });
    items = apply(items, 'tool.started', { callId: 'c1', tool: 'read', input: {} });
    items = think(items, { text: 'Good.', seconds: 2 });
    expect(shown(items)).toEqual(['(I look.) 1', 'tool', '(Good.) 2']);
  });

  it('continue after a note', () => {
    const items = think(note(think(run(), { text: 'I add' })), { text: '\n\nI count.', seconds: 2 });
    expect(shown(items)).toEqual(['(I add\n\nI count.) 2', 'note']);
  });

  it('without visible text leave no trace', () => {
    const begun = think(run(), {});
    expect(shown(begun)).toEqual(['() …']);
    expect(shown(say(think(begun, { seconds: 2 }), 'It is 4.'))).toEqual(['It is 4.']);
  });

  it('are removed from an answer if reclassified', () => {
    let items = think(say(run(), 'I add.\n'), { text: 'I add.\n', wasSaid: true });
    items = say(think(items, { text: '', seconds: 5 }), 'It is 4.');
    expect(shown(items)).toEqual(['(I add.) 5', 'It is 4.']);
    items = think(say(say(run(), 'One'), '\n\nI add.'), { text: '\n\nI add.', wasSaid: true });
    expect(shown(items)).toEqual(['One', '(I add.) …']);
  });
});

describe('thoughts in a transcript', () => {
  const entry = (thought: unknown): Entry => ({
    v: 1,
    id: 'e1',
    ts: '2026-11-21T10:00:00Z',
    role: 'assistant',
    content: 'It is 4.',
    meta: { runId: 'r1', thought }
  });

  it('come before the answer', () => {
    expect(shown(fromEntries([entry({ text: 'I add.', seconds: 8 })]))).toEqual(['(I add.) 8', 'It is 4.']);
  });

  it('of a replayed run come from its events only', () => {
    expect(fromEntries([entry({ text: 'I add.', seconds: 8 })], new Set(['r1']))).toEqual([]);
  });

  it.each([undefined, null, 'I add.', {}, { text: 3 }, { text: ' ' }, []])('%j are none', thought => {
    expect(shown(fromEntries([entry(thought)]))).toEqual(['It is 4.']);
  });

  it('without a valid duration have none', () => {
    expect(shown(fromEntries([entry({ text: 'I add.', seconds: 'x' })]))[0]).toBe('(I add.) …');
  });

  it('are not in a copy of the conversation', () => {
    expect(asMarkdown(fromEntries([entry({ text: 'I add.', seconds: 8 })]))).toBe('**Onyx**\n\nIt is 4.');
  });
});

it('seconds are integers, and at least one', () => {
  expect([0, 0.4, 8.4, 59.6, 65].map(formatSeconds)).toEqual(['1 s', '1 s', '8 s', '1 min 0 s', '1 min 5 s']);
  expect(formatDuration(119_700)).toBe('2 min 0 s');
});
