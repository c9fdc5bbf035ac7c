import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { NoteView } from '../src/features/chat/note_view';
import { MemoryActions } from '../src/features/memory/memory_actions';
import { RequestError } from '../src/protocol/frames';
import { click, drawAnew, host, part, render } from './drawing';

drawAnew();

const CHANGE = { op: 'add', section: 'Facts', item: '', content: 'April', reason: 'said', sources: [] };
const DATA = {
  id: 'n',
  path: 'MEMORY.md',
  state: 'kept',
  done: [CHANGE],
  refused: [],
  version: 2,
  before: 1
};

const request = vi.fn();
const actions = new MemoryActions({ request } as never, { key: 's', info: null });
const draw = (kind: string, data: Record<string, unknown>, memory: MemoryActions | undefined = actions) => {
  const note = { kind, message: 'Some words.', data };
  return render(<NoteView note={note} />, { memory });
};

beforeEach(() => {
  request.mockReset();
});

describe('the memory note', () => {
  it('is one line that expands to the changes', async () => {
    await draw('memory', DATA);
    expect(part('note')!.textContent).toContain('Remembered 1 thing');
    expect(part('memory-change')).toBeNull();
    await act(async () => host.querySelector<HTMLElement>('[aria-expanded]')!.click());
    expect(part('memory-change')!.textContent).toBe('AprilFacts · said');
  });

  it('undoes by id, and says why not, with the diff, if the file has changed since', async () => {
    await draw('memory', DATA);
    request.mockResolvedValueOnce({ ok: false, reason: 'It has been changed since.' });
    await click('memory-undo');
    expect(request).toHaveBeenLastCalledWith('memory.undo', { sessionKey: 's', noteId: 'n' });
    expect(part('memory-refused')!.textContent).toContain('It has been changed since.');
    request.mockResolvedValueOnce({ diff: '@@ -1 +1 @@\n+mine', checksum: 'c' });
    await click('memory-diff');
    const compared = { path: 'MEMORY.md', version: 2, to: undefined, agentId: undefined };
    expect(request).toHaveBeenLastCalledWith('memory.diff', compared);
    expect(part('diff')!.textContent).toContain('mine');
  });

  it('reports a rejection or a lost connection', async () => {
    await draw('memory', DATA);
    request.mockRejectedValueOnce(new RequestError(-32000, 'This has already been undone.'));
    await click('memory-undo');
    expect(part('memory-refused')!.textContent).toContain('This has already been undone.');
    request.mockRejectedValueOnce(new Error('closed'));
    await click('memory-undo');
    expect(part('memory-refused')!.textContent).toContain('no connection');
  });

  it('has no undo if already undone, impossible, or read-only', async () => {
    await draw('memory', { ...DATA, state: 'undone' });
    expect([part('memory-undo'), part('memory-undone')!.textContent]).toEqual([null, 'Undone']);
    await draw('memory', { ...DATA, before: null });
    expect(part('memory-undo')).toBeNull();
    await draw('memory', DATA, null as never);
    expect(part('memory-undo')).toBeNull();
  });

  it('in an unknown format is shown as text', async () => {
    await draw('memory', { id: 3 });
    expect(part('note')!.textContent).toBe('Some words.');
  });
});

describe('proposals of a summary', () => {
  const proposals = [
    { op: 'add', target: 'MEMORY.md', content: 'First', reason: 'said' },
    { op: 'add', target: 'MEMORY.md', content: 'Second', reason: 'said' }
  ];

  it('are accepted one by one, and say why not', async () => {
    await draw('compaction', { id: 'n', proposals, accepted: [0] });
    expect(host.querySelectorAll('[data-onyx=accept-proposal]').length).toBe(1);
    request.mockResolvedValueOnce({ ok: false, reason: 'It was not remembered: it contains a secret.' });
    await click('accept-proposal');
    expect(request).toHaveBeenLastCalledWith('memory.accept', { sessionKey: 's', noteId: 'n', proposal: 1 });
    expect(part('proposal-refused')!.textContent).toContain('it contains a secret');
  });

  it('of an older note are read-only', async () => {
    await draw('compaction', { proposals });
    expect(part('accept-proposal')).toBeNull();
    expect(host.querySelectorAll('[data-onyx=proposal]').length).toBe(2);
  });
});
