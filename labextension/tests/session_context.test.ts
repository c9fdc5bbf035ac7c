import { beforeEach, describe, expect, it } from 'vitest';

import { isRun } from '../src/features/chat/conversation';
import type { UserMessage } from '../src/features/chat/conversation';
import { Session } from '../src/features/chat/session';
import type { ContextItem, Entry, SentItem } from '../src/protocol/wire';
import { Peer, settle } from './peer';

const CELL: ContextItem = { type: 'cell', path: 'plot.ipynb', cellId: 'c4', label: 'cell 4' };
const SELECTED: ContextItem = { type: 'selection', path: 'a.py', text: 'x = 1', startLine: 3, endLine: 3 };
const READ: SentItem = { ...CELL, text: '6 * 7', tokens: 12 };

let peer: Peer;
let session: Session;
const said = () => session.items.filter((item): item is UserMessage => !isRun(item));
const sent = () => peer.askedFor('chat.send').map(params => params.context);

beforeEach(async () => {
  peer = new Peer();
  peer.results = {
    'sessions.create': { sessionKey: 's' },
    'sessions.subscribe': { seq: 0 },
    'health.check': { uptime: 1 },
    'chat.send': { runId: 'r1', delivery: 'started', context: [READ] }
  };
  peer.connect();
  session = new Session({
    client: peer.client,
    events: peer.events,
    nowMs: () => 0,
    onFrame: () => () => undefined
  });
});

describe('context attached to a message', () => {
  it('is shown with its text and tokens once the server has read it', async () => {
    session.send('Explain', [CELL]);
    expect(said()[0].context).toEqual([CELL]);
    await settle();
    expect(said()[0].context).toEqual([READ]);
  });

  it('is resolved again when a question is retried, except for selections', async () => {
    peer.results['chat.send'] = { runId: 'r1', context: [READ, { ...SELECTED, tokens: 3 }] };
    session.send('Explain', [CELL, SELECTED]);
    await settle();
    const run = session.items.find(isRun)!;
    session.retry(run);
    await settle();
    expect(sent()[1]).toEqual(sent()[0]);
    expect(sent()[1]).toMatchObject([{ type: 'cell', cellId: 'c4' }, { text: 'x = 1' }]);
    expect(JSON.stringify(sent()[1])).not.toContain('tokens');
    expect(JSON.stringify(sent()[1])).not.toContain('6 * 7');
  });

  it('is known from the event of a joining message, in every tab', async () => {
    session.send('Start');
    await settle();
    const told = { runId: 'r1', sessionKey: 's', seq: 1, messageId: 'm1', text: 'And this', context: [READ] };
    peer.emit('chat.steered', told);
    expect(said().at(-1)).toMatchObject({ text: 'And this', context: [READ] });
  });

  it('is found in the transcript if the answer was lost', async () => {
    peer.results['chat.send'] = undefined;
    session.send('Explain', [CELL]);
    await settle();
    const meta = { runId: 'r1', context: [READ] };
    const line: Entry = { v: 1, id: 'e1', ts: '', role: 'user', content: 'Explain', meta };
    peer.results['chat.history'] = { messages: [line] };
    peer.lose();
    peer.client.connect();
    peer.socket.onopen?.();
    await settle();
    expect(said()[0]).toMatchObject({ delivery: 'sent', context: [READ] });
    expect(peer.askedFor('chat.send')).toHaveLength(1);
  });
});
