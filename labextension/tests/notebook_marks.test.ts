import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { cellHash } from '../src/features/notebooks/cell_hash';
import { NotebookMarks } from '../src/features/review/notebook_marks';
import { TurnChanges } from '../src/features/review/turn_changes';
import type { CellMark, NotebookReverted, TurnInfo } from '../src/protocol/wire';
import { Peer } from './peer';

const MARK: CellMark = {
  cellId: 'a',
  kinds: ['added'],
  turns: [{ sessionKey: 's', runId: 'r' }],
  working: true
};
const TURN: TurnInfo = {
  runId: 'r',
  cells: 1,
  ran: 0,
  pending: 1,
  standing: 1,
  notebooks: [{ path: 'f/a.ipynb', cells: 1 }],
  created: [],
  undone: false
};
const DONE: NotebookReverted = { cells: 1, paths: ['f/a.ipynb'], leftAlone: [], removed: [], made: [] };

let peer: Peer;

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'notebook.changes': { marks: [MARK], turns: [TURN] } };
  peer.connect();
});

afterEach(() => {
  vi.useRealTimers();
});

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(500);
}

function asked(): number {
  return peer.askedFor('notebook.changes').length;
}

describe('the marks of a notebook', () => {
  it('are requested once for a burst of events', async () => {
    const marks = new NotebookMarks(peer.client, () => 'f/a.ipynb');
    await settle();
    expect(peer.askedFor('notebook.changes')).toEqual([{ path: 'f/a.ipynb' }]);
    expect(marks.marks).toEqual([MARK]);
    for (let count = 0; count < 20; count += 1) {
      peer.emit('notebook.changes_updated', { paths: ['elsewhere/a.ipynb'], runId: 'r', sessionKey: 's' });
    }
    peer.emit('notebook.changes_updated', { paths: ['f/b.ipynb'] });
    await settle();
    expect(asked()).toBe(2);
    marks.dispose();
    peer.emit('notebook.changes_updated', { paths: ['f/a.ipynb'] });
    await settle();
    expect(asked()).toBe(2);
  });

  it('are requested again when the turn ends, and after a reconnect', async () => {
    const marks = new NotebookMarks(peer.client, () => 'f/a.ipynb');
    await settle();
    peer.emit('session.updated', { sessionKey: 'other', activity: 'idle' });
    await settle();
    expect(asked()).toBe(1);
    peer.emit('session.updated', { sessionKey: 's', activity: 'idle' });
    await settle();
    expect(asked()).toBe(2);
    peer.lose();
    await peer.comeBack();
    await settle();
    expect(asked()).toBe(3);
    marks.dispose();
  });

  it('name what a revert left alone, until something else happens', async () => {
    const left: NotebookReverted = {
      ...DONE,
      leftAlone: [{ path: 'f/a.ipynb', cellId: 'a', reason: 'changed' }]
    };
    peer.results['notebook.reject'] = left;
    const marks = new NotebookMarks(peer.client, () => 'f/a.ipynb');
    await settle();
    void marks.revert(['a']);
    expect(marks.isBusy).toBe(true);
    await settle();
    expect(peer.askedFor('notebook.reject')).toEqual([
      { path: 'f/a.ipynb', cellIds: ['a'], shown: { a: '' } }
    ]);
    expect(marks.outcome).toEqual(left);
    expect(marks.isBusy).toBe(false);
    peer.emit('notebook.changes_updated', { paths: ['f/a.ipynb'] });
    expect(marks.outcome).toBeNull();
    marks.dispose();
  });

  it('are kept as shown, whatever an active turn does meanwhile', async () => {
    const edited: CellMark = { ...MARK, cellId: 'b', after: { cellType: 'code', source: 'x = 1' } };
    peer.results = {
      'notebook.changes': { marks: [MARK, edited], turns: [] },
      'notebook.accept': { cells: 2 }
    };
    const marks = new NotebookMarks(peer.client, () => 'f/a.ipynb');
    await settle();
    void marks.keep(null);
    await settle();
    void marks.keep(['b']);
    await settle();
    expect(peer.askedFor('notebook.accept')).toEqual([
      { path: 'f/a.ipynb', shown: { a: '', b: cellHash('x = 1') } },
      { path: 'f/a.ipynb', cellIds: ['b'], shown: { b: cellHash('x = 1') } }
    ]);
    marks.dispose();
  });

  it('say why an action failed', async () => {
    const marks = new NotebookMarks(peer.client, () => 'f/a.ipynb');
    await settle();
    peer.lose();
    const drawn: boolean[] = [];
    marks.changed.connect(() => void drawn.push(marks.isBusy));
    await marks.keep(null);
    expect(marks.problem).not.toBeNull();
    expect(drawn).toEqual([true, false]);
    marks.dismiss();
    expect(marks.problem).toBeNull();
    marks.dispose();
  });
});

describe('the turns of a session', () => {
  it('are undone and restored, with the result', async () => {
    const turns = new TurnChanges(peer.client);
    turns.follow('s');
    await settle();
    expect(peer.askedFor('notebook.changes')).toEqual([{ sessionKey: 's' }]);
    expect(turns.turns.get('r')?.turn).toEqual(TURN);
    peer.results['notebook.undo'] = DONE;
    peer.results['notebook.changes'] = { marks: [], turns: [{ ...TURN, undone: true }] };
    void turns.undo('r');
    expect(turns.turns.get('r')?.isBusy).toBe(true);
    await settle();
    expect(turns.turns.get('r')).toMatchObject({ isBusy: false, outcome: DONE, turn: { undone: true } });
    turns.dispose();
  });

  it('stay the same objects while unchanged, and are removed with their session', async () => {
    const turns = new TurnChanges(peer.client);
    turns.follow('s');
    await settle();
    const before = turns.turns.get('r');
    peer.emit('notebook.changes_updated', { paths: ['f/a.ipynb'], sessionKey: 's', runId: 'r' });
    peer.emit('notebook.changes_updated', { paths: ['f/a.ipynb'], sessionKey: 'other', runId: 'x' });
    await settle();
    expect(asked()).toBe(2);
    expect(turns.turns.get('r')).toBe(before);
    turns.follow(null);
    await settle();
    expect(turns.turns.size).toBe(0);
    expect(asked()).toBe(2);
    turns.dispose();
  });
});
