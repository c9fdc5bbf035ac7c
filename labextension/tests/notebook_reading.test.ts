import { YNotebook } from '@jupyter/ydoc';
import type { PartialJSONObject } from '@lumino/coreutils';
import { describe, expect, it } from 'vitest';

import { MAX_FRAME_BYTES, jsonBytes, wellFormed } from '../src/protocol/frame_size';
import { ActionError } from '../src/features/notebooks/notebook_bridge';
import { readPart } from '../src/features/notebooks/notebook_reading';
import type { NotebookPart } from '../src/features/notebooks/notebook_reading';
import { FULL_LIMITS, READ_LIMITS, limitOutputs } from '../src/features/notebooks/output_limits';

const NONE: ReadonlySet<string> = new Set();

function notebook(...cells: { source: string; outputs?: unknown[] }[]): YNotebook {
  const data = cells.map(({ source, outputs = [] }, index) => ({
    ...{ id: `c${index}`, cell_type: 'code' as const, source, metadata: {}, execution_count: null },
    outputs: outputs as never[]
  }));
  return YNotebook.create({ data: { cells: data, metadata: {}, nbformat: 4, nbformat_minor: 5 } });
}

function readAll(model: YNotebook): NotebookPart[] {
  const parts = [readPart(model, 0, NONE)];
  for (let next = parts[0].next; next !== null; next = parts[parts.length - 1].next) {
    parts.push(readPart(model, next, NONE));
  }
  return parts;
}

const stream = (text: string) => ({ output_type: 'stream', name: 'stdout', text });
const display = (data: PartialJSONObject) => ({ output_type: 'display_data', metadata: {}, data });

describe('readPart', () => {
  it('splits a large notebook into parts that fit into a frame, whatever its text', () => {
    const model = notebook(...Array.from({ length: 1200 }, (_, n) => ({ source: `数学 ${n} `.repeat(700) })));
    const parts = readAll(model);
    expect(parts.length).toBeGreaterThan(2);
    expect(Math.max(...parts.map(jsonBytes))).toBeLessThan(MAX_FRAME_BYTES);
    expect(parts.flatMap(part => part.cells.map(cell => cell.id))).toEqual(
      model.cells.map(cell => cell.getId())
    );
    expect(new Set(parts.map(part => part.order)).size).toBe(1);
    model.deleteCell(0);
    expect(readPart(model, 0, NONE).order).not.toBe(parts[0].order);
  });

  it('stays small beside an output of 200 MB', () => {
    const model = notebook({ source: 'a', outputs: [stream('x'.repeat(200_000_000))] }, { source: 'b' });
    const part = readPart(model, 0, new Set(['c0']));
    expect(part.next).toBeNull();
    expect(jsonBytes(part)).toBeLessThan(1_000_000);
    expect(JSON.stringify(part.cells[0])).toContain('more characters');
  });

  it('names a cell that no frame can carry', () => {
    const model = notebook({ source: 'a' }, { source: 'é'.repeat(3_000_000) });
    expect(() => readPart(model, 0, NONE)).toThrow(ActionError);
    expect(() => readPart(model, 0, NONE)).toThrow('Cell 2 (c1) is too large');
  });

  it('includes images only for cells requested in full', () => {
    const picture = display({ 'image/png': 'cG5n', 'text/plain': '<Figure>' });
    const model = notebook({ source: 'a', outputs: [picture] }, { source: 'b', outputs: [picture] });
    const shown = readPart(model, 0, new Set(['c1'])).cells.map(cell => JSON.stringify(cell.outputs));
    expect(shown[0]).not.toContain('cG5n');
    expect(shown[0]).toContain('<Figure>');
    expect(shown[1]).toContain('cG5n');
  });

  it('includes only ids and sizes of other cells if some are requested', () => {
    const picture = display({ 'image/png': 'cG5n' });
    const model = notebook(
      { source: 'x'.repeat(100_000), outputs: [picture] },
      { source: 'é数😀 \ud83d', outputs: [picture] },
      { source: ' \n\t' },
      { source: 'last' }
    );
    const part = readPart(model, 0, new Set(['c1']), { only: new Set(['c1', 'nowhere']), last: 1 });
    expect(part.cells.map(cell => cell.id)).toEqual(['c1', 'c3']);
    expect(JSON.stringify(part.cells[0].outputs)).toContain('cG5n');
    // As Python counts them, of the text that the server gets.
    expect(part.sizes).toEqual([
      ['c0', 100_000],
      ['c1', 5],
      ['c2', 0],
      ['c3', 4]
    ]);
    expect(part.order).toBe(readPart(model, 0, NONE).order);
    expect(readPart(model, 0, NONE).sizes).toBeUndefined();
    expect(jsonBytes(part)).toBeLessThan(1_000);
  });

  it('returns requested cells despite others that no frame can carry', () => {
    const model = notebook({ source: 'a' }, { source: 'é'.repeat(3_000_000) });
    const part = readPart(model, 0, NONE, { only: new Set(['c0']), last: 0 });
    expect(part.cells.map(cell => cell.source)).toEqual(['a']);
    expect(() => readPart(model, 0, NONE, { only: new Set(['c1']), last: 0 })).toThrow(
      'Cell 2 (c1) is too large'
    );
  });

  it('splits requested cells too, naming each cell once', () => {
    const model = notebook(...Array.from({ length: 60 }, (_, n) => ({ source: `${n} `.repeat(100_000) })));
    const wanted = { only: new Set(model.cells.slice(10, 50).map(cell => cell.getId())), last: 0 };
    const parts = [readPart(model, 0, NONE, wanted)];
    for (let next = parts[0].next; next !== null; next = parts[parts.length - 1].next) {
      parts.push(readPart(model, next, NONE, wanted));
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(Math.max(...parts.map(jsonBytes))).toBeLessThan(MAX_FRAME_BYTES);
    expect(parts.flatMap(part => part.sizes?.map(([id]) => id))).toEqual(
      model.cells.map(cell => cell.getId())
    );
    expect(parts.flatMap(part => part.cells.map(cell => cell.id))).toEqual([...wanted.only]);
  });

  it('says whether requested cells are complete', () => {
    const large = display({ 'image/png': 'A'.repeat(FULL_LIMITS.dataChars + 1) });
    const model = notebook(
      { source: 'a', outputs: [stream('x'.repeat(100_000))] },
      { source: 'b', outputs: [stream('x'.repeat(300_000))] },
      { source: 'c', outputs: [large] }
    );
    const { cells } = readPart(model, 0, new Set(['c0', 'c1', 'c2']));
    expect(cells.map(cell => cell.outputsShortened)).toEqual([false, true, true]);
  });
});

describe('limitOutputs', () => {
  it('keeps a traceback a list, as nbformat requires', () => {
    const error = { output_type: 'error', ename: 'E', evalue: 'e', traceback: ['one', 'two'] };
    expect(limitOutputs([error], READ_LIMITS)[0].traceback).toEqual(['one\ntwo']);
  });

  it('drops too large rich outputs completely, and keeps small ones', () => {
    const plot = display({
      'application/vnd.plot+json': { points: Array(500_000).fill(1.5) },
      'text/plain': 'Plot'
    });
    expect(limitOutputs([plot], FULL_LIMITS)[0].data).toEqual({ 'text/plain': 'Plot' });
    const small = display({ 'application/json': { answer: [42] } });
    expect(limitOutputs([small], READ_LIMITS)).toEqual([small]);
  });

  it('splits no character', () => {
    const [cut] = limitOutputs([stream('x' + '😀'.repeat(20_000))], READ_LIMITS);
    expect(/\p{Surrogate}/u.test(cut.text as string)).toBe(false);
    expect(wellFormed('half \ud83d pair')).toBe('half \ufffd pair');
  });
});
