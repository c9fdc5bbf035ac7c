import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { formatSkipped, formatMark, formatTurn, lockedReason } from '../src/features/review/mark_words';
import { changedLines, shownMarks } from '../src/features/review/shown_marks';
import type { CellNow } from '../src/features/review/shown_marks';
import type { CellMark, NotebookReverted, TurnInfo } from '../src/protocol/wire';

const trans = nullTranslator.load('onyx_jupyter');
const TURN = { sessionKey: 's', runId: 'r' };

function mark(cellId: string, kinds: CellMark['kinds'], more: Partial<CellMark> = {}): CellMark {
  return { cellId, kinds, turns: [TURN], ...more };
}

function text(source: string, cellType: 'code' | 'markdown' = 'code') {
  return { source, cellType };
}

function cells(...pairs: Array<[id: string, source: string]>): CellNow[] {
  return pairs.map(([id, source]) => ({ id, source, cellType: 'code' }));
}

describe('review marks in a notebook', () => {
  const edited = mark('a', ['edited', 'ran'], { before: text('x = 1'), after: text('x = 2') });

  it('count the lines that differ now', () => {
    const [shown] = shownMarks([edited], cells(['a', 'x = 2']));
    expect(shown).toMatchObject({ kind: 'edited', lines: 1, isYours: false });
    expect(changedLines('a\nb\nc', 'a\nB\nc\nd')).toBe(2);
    expect(changedLines('a\nb\nc', 'c')).toBe(2);
    expect(changedLines('same', 'same')).toBe(0);
  });

  it('report later typing by the user, and then offer no revert', () => {
    const [shown] = shownMarks([edited], cells(['a', 'x = 2  # mine']));
    expect(shown.isYours).toBe(true);
    expect(formatMark(shown, '', trans)).toEqual(['1 line changed', 'changed by you since']);
    expect(lockedReason(shown, trans)).toContain('You changed this cell');
  });

  it('are silent about unchanged, deleted, or restored cells', () => {
    const added = mark('new', ['added'], { after: text('n') });
    const deleted = mark('b', ['deleted'], { before: text('b'), above: ['a'] });
    expect(shownMarks([edited, added, deleted], cells(['a', 'x = 1'], ['b', 'b']))).toEqual([]);
  });

  it('follow the order of the notebook, removed cells at their former position', () => {
    const marks = [
      mark('c', ['deleted'], { above: ['b', 'a'] }),
      mark('new', ['added'], { after: text('n') }),
      mark('b', ['deleted'], { above: ['a'] }),
      mark('first', ['deleted'], { above: [] }),
      edited
    ];
    const shown = shownMarks(marks, cells(['a', 'x = 2'], ['new', 'n']));
    expect(shown.map(one => [one.mark.cellId, one.under])).toEqual([
      ['first', null],
      ['a', null],
      ['b', 'a'],
      ['c', 'a'],
      ['new', null]
    ]);
  });

  it('show where a cell was moved from, also if it was edited too', () => {
    const moved = mark('m', ['moved'], { above: ['a'] });
    const both = mark('n', ['edited', 'moved'], { above: [], before: text('1'), after: text('2') });
    const [first, second] = shownMarks([moved, both], cells(['a', ''], ['m', ''], ['n', '2']));
    expect(formatMark(first, 'below cell 1', trans)).toEqual(['moved from below cell 1']);
    expect(formatMark(second, 'the start', trans)).toEqual(['1 line changed', 'moved from the start']);
  });

  it('cannot be reverted while the turn is active', () => {
    const [shown] = shownMarks([{ ...edited, working: true }], cells(['a', 'x = 2']));
    expect(lockedReason(shown, trans)).toContain('still working');
  });
});

describe('labels of turns and reverts', () => {
  const turn: TurnInfo = {
    runId: 'r',
    cells: 0,
    ran: 0,
    pending: 0,
    standing: 0,
    notebooks: [],
    created: [],
    undone: false
  };

  it('count changed notebooks, else created ones, else executed ones', () => {
    expect(formatTurn({ ...turn, cells: 3, ran: 1 }, trans)).toBe('3 cells changed');
    expect(formatTurn({ ...turn, created: ['f/new.ipynb'] }, trans)).toBe('new.ipynb made');
    expect(formatTurn({ ...turn, ran: 1 }, trans)).toBe('1 cell run');
  });

  it('give each reason once, and a notebook’s own error', () => {
    const outcome: NotebookReverted = {
      cells: 0,
      paths: [],
      removed: [],
      made: [],
      leftAlone: [
        { path: 'a.ipynb', cellId: '1', reason: 'changed' },
        { path: 'a.ipynb', cellId: '2', reason: 'changed' },
        { path: 'a.ipynb', cellId: '3', reason: 'running' },
        { path: 'b.ipynb', reason: 'not_found', message: 'There is no b.ipynb.' }
      ]
    };
    expect(formatSkipped(outcome, trans)).toEqual([
      '2 cells were left as they are: you changed them since.',
      '1 cell was left as it is: it runs now. Stop it, or wait for its end, and try again.',
      'b.ipynb: There is no b.ipynb.'
    ]);
  });
});
