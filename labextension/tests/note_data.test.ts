import { describe, expect, it } from 'vitest';

import { addNote, newRun } from '../src/features/chat/conversation';
import type { Note } from '../src/features/chat/conversation';
import { readCompaction, readMemory } from '../src/features/chat/note_data';

describe('memory proposals of a summary', () => {
  const proposal = { target: 'MEMORY.md', content: 'The year starts in April.', reason: 'said twice' };
  const written = { op: 'add', ...proposal };

  it('are parsed with what has been remembered of them', () => {
    const read = readCompaction({ id: 'n', tokensBefore: 9, proposals: [written], accepted: [0] });
    expect(read).toEqual({ id: 'n', proposals: [{ ...proposal, number: 0 }], accepted: new Set([0]) });
  });

  it('are empty if there are none; invalid ones are dropped, and others keep their numbers', () => {
    expect(readCompaction(undefined)).toEqual({ id: undefined, proposals: [], accepted: new Set() });
    expect(readCompaction({ proposals: 'many', accepted: 0 }).proposals).toEqual([]);
    const found = readCompaction({ proposals: [null, 'x', { target: 'a', content: 1 }, written] });
    expect(found.proposals).toEqual([{ ...proposal, number: 3 }]);
  });
});

describe('automatic memory changes', () => {
  const change = { op: 'add', section: 'Facts', item: '', content: 'April', reason: 'said', sources: ['x'] };

  it('are parsed with state and versions', () => {
    const data = { id: 'n', path: 'MEMORY.md', state: 'undone', done: [change], version: 3, before: 2 };
    const refused = [{ operation: change, why: 'it contains a secret' }];
    const read = readMemory({ ...data, refused, history: '- then' })!;
    expect(read.isUndone).toBe(true);
    expect(read.done.map(one => one.content)).toEqual(['April']);
    expect(read.refused.map(one => [one.change.content, one.why])).toEqual([
      ['April', 'it contains a secret']
    ]);
    expect([read.version, read.before, read.history]).toEqual([3, 2, '- then']);
  });

  it('are dropped in an unknown format', () => {
    expect(readMemory(undefined)).toBeNull();
    expect(readMemory({ id: 7, path: 'MEMORY.md' })).toBeNull();
    const read = readMemory({ id: 'n', path: 'x', done: [null, { op: 'erase' }, change], refused: [null] })!;
    expect(read.done.length).toBe(1);
    expect(read.refused).toEqual([]);
    expect(read.version).toBeUndefined();
  });
});

describe('a repeated note', () => {
  const note = (id: unknown, message: string): Note => ({ kind: 'memory', message, data: { id } });
  const messages = (notes: Note[]) =>
    notes
      .reduce((run, one, index) => addNote(run, `k${index}`, one), newRun('r'))
      .parts.map(part => part.kind === 'note' && part.note.message);

  it('replaces the earlier one with the same id, and no other', () => {
    expect(messages([note('a', '1'), note('b', '2'), note('a', '3')])).toEqual(['3', '2']);
    expect(messages([note(undefined, '1'), note(undefined, '2')])).toEqual(['1', '2']);
  });
});
