import { describe, expect, it } from 'vitest';

import type { ContextOf } from '../src/features/composer/context_items';
import { callsOf, isRun } from '../src/features/chat/conversation';
import type { UserMessage } from '../src/features/chat/conversation';
import { targetNotebook } from '../src/features/chat/target_notebook';
import { fromEntries } from '../src/features/chat/transcript';
import type { Entry } from '../src/protocol/wire';

const FRONT: ContextOf = { type: 'notebook', path: 'a.ipynb', cellId: 'a1' };
const NOTEBOOK = /^(notebook|kernel)_/;
/** A call with what its result says as data; one that came to its notebook always names it. */
const call = (tool: string, path: string, data: object | null = {}, input = {}, status = 'ok') => ({
  tool,
  input: { path, ...input },
  data: data && NOTEBOOK.test(tool) && tool !== 'notebook_list' ? { notebook: path, ...data } : undefined,
  status
});
const numbered = (...ids: string[]) => ids.map((id, at) => ({ number: at + 1, id }));
const outline = (path: string, ...ids: string[]) =>
  call('notebook_outline', path, { total: ids.length, cells: numbered(...ids) });
const insertion = (path: string, id: string, place: object = { at: 'end' }) =>
  call('notebook_insert_cell', path, { inserted: { id, ...place } });

type Step = string | ReturnType<typeof call>;

/** What is meant by these words behind those steps, as it is read from a transcript. */
function meant(context: ContextOf[], steps: Step[], words = 'In cell 2', more: Entry['meta'] = {}) {
  const base = { v: 1, ts: '' };
  const entries: Entry[] = [
    { ...base, id: 'u', role: 'user', content: 'Look', meta: { runId: 'r', context, ...more } },
    ...steps.flatMap((step, index): Entry[] =>
      typeof step === 'string'
        ? [{ ...base, id: `t${index}`, role: 'assistant', content: step, meta: { runId: 'r' } }]
        : [
            {
              ...base,
              id: `c${index}`,
              role: 'assistant',
              content: '',
              tool_calls: [{ id: `call${index}`, name: step.tool, arguments: step.input }],
              meta: { runId: 'r' }
            },
            {
              ...base,
              id: `o${index}`,
              role: 'tool',
              content: '',
              tool_call_id: `call${index}`,
              meta: { runId: 'r', status: step.status, data: step.data }
            }
          ]
    )
  ];
  const items = fromEntries(entries);
  const [asked] = items.filter((item): item is UserMessage => !isRun(item));
  const [run] = items.filter(isRun);
  expect(callsOf(run ?? { parts: [] })).toHaveLength(steps.filter(step => typeof step !== 'string').length);
  return targetNotebook(asked, run?.parts ?? [], words);
}
const path = (...given: Parameters<typeof meant>) => meant(...given)?.path ?? null;
const ids = (...given: Parameters<typeof meant>) => meant(...given)?.cellIds;

describe('the target notebook of an answer', () => {
  it('is the attached one, and none without one', () => {
    expect(path([FRONT], [])).toBe('a.ipynb');
    expect(path([{ ...FRONT, path: 'RTC:a.ipynb' }], [])).toBe('a.ipynb');
    expect(path([{ type: 'variable', path: 'a.ipynb', name: 'df' }], [])).toBe('a.ipynb');
    expect(path([], [])).toBeNull();
    expect(path([{ type: 'file', path: 'cells.xlsx' }], [])).toBeNull();
    expect(path([{ type: 'selection', path: 'a.py', text: 'x' }], [])).toBeNull();
  });

  it('is undecided if two are attached, until one is used', () => {
    const two = [FRONT, { type: 'cell' as const, path: 'b.ipynb', cellId: 'b3', label: 'cell 3' }];
    expect(path(two, [])).toBeNull();
    expect(path(two, [outline('b.ipynb', 'b1')])).toBe('b.ipynb');
  });

  it('is the last one used, whatever is current', () => {
    expect(path([FRONT], [outline('b.ipynb', 'b1')])).toBe('b.ipynb');
    expect(path([FRONT], [outline('b.ipynb', 'b1'), 'Seen.', outline('c.ipynb', 'c1')])).toBe('c.ipynb');
    expect(path([], [outline('b.ipynb', 'b1'), insertion('c.ipynb', 'new')])).toBe('c.ipynb');
    expect(path([], [call('kernel_variables', './b.ipynb', { notebook: 'b.ipynb' })])).toBe('b.ipynb');
  });

  it('is undecided if two were only read and the text does not tell', () => {
    const both = [outline('b.ipynb', 'b1'), outline('sub/c.ipynb', 'c1')];
    expect(path([FRONT], both)).toBeNull();
    expect(path([FRONT], [...both, 'Both seen.', 'Now.'])).toBeNull();
    expect(path([FRONT], both, 'Cell 1 of `b.ipynb`.')).toBe('b.ipynb');
    expect(path([FRONT], both, 'Cell 1 of **c.ipynb**, not of b.ipynb.')).toBeNull();
    expect(path([FRONT], both, 'Cell 1 of sub/c.ipynb')).toBe('sub/c.ipynb');
  });

  it('is none if the text names an unknown one', () => {
    expect(path([FRONT], [], 'as in cell 5 of last.ipynb')).toBeNull();
    expect(path([FRONT], [], 'as in cell 5 of a.ipynb')).toBe('a.ipynb');
  });

  it('is none that a call did not reach', () => {
    expect(path([], [call('notebook_read', 'b.ipynb', null, {}, 'failed')])).toBeNull();
    expect(path([], [call('notebook_edit_cell', 'b.ipynb', null, {}, 'denied')])).toBeNull();
    expect(path([], [call('notebook_list', 'folder')])).toBeNull();
    expect(path([], [call('read', 'b.ipynb')])).toBeNull();
    const ran = { ran: [{ id: 'b1', status: 'error' }] };
    const failed = call('notebook_run_cell', 'b.ipynb', ran, {}, 'failed');
    expect(path([FRONT], [failed])).toBe('b.ipynb');
  });

  it('is known by its own path if a tool reports it', () => {
    const read = call('notebook_read', '/srv/old.ipynb', { notebook: 'new.ipynb', total: 3 });
    expect(path([], [read])).toBe('new.ipynb');
    expect(path([], [call('notebook_edit_cell', '/srv/old.ipynb')])).toBeNull();
  });

  it('is the one of the asking cell', () => {
    const kernel = { kernelId: 'k', name: 'a.ipynb' };
    expect(path([], [], 'Cell 2', { kernel: { ...kernel, path: 'dir/a.ipynb' } })).toBe('dir/a.ipynb');
    expect(path([], [], 'Cell 2', { kernel })).toBeNull(); // of another server, so it may be any of that name
  });
});

describe('the cells known to a run', () => {
  const known = outline('a.ipynb', 'a1', 'a2', 'a3');

  it('are those in its outline, reads and searches, and attached ones', () => {
    expect(ids([FRONT], [])).toEqual([]);
    expect(ids([FRONT], [known])).toEqual(['a1', 'a2', 'a3']);
    const some = [
      { number: 4, id: 'a4' },
      { number: 5, id: 'a5' }
    ];
    const read = call('notebook_read', 'a.ipynb', { total: 9, cells: some });
    expect(ids([], [read])?.slice(3, 6)).toEqual(['a4', 'a5', undefined]);
    const found = [
      { number: 2, id: 'a2' },
      { number: 3, id: 'a3' }
    ];
    expect(ids([], [call('notebook_find', 'a.ipynb', { cells: found })])).toEqual([undefined, 'a2', 'a3']);
    const ran = [
      { number: 1, id: 'a1', status: 'ok' },
      { number: 3, id: 'a3', status: 'error' }
    ];
    expect(ids([], [call('notebook_run_all', 'a.ipynb', { ran })])).toEqual(['a1', undefined, 'a3']);
    expect(ids([{ type: 'error', path: 'a.ipynb', cellId: 'a2', label: 'cell 2' }], [])).toEqual([
      undefined,
      'a2'
    ]);
    const made = call('notebook_create', 'a.ipynb', { total: 2, cells: numbered('a1', 'a2') });
    expect(ids([], [made, insertion('a.ipynb', 'a3')])).toEqual(['a1', 'a2', 'a3']);
  });

  it('are separate for each notebook', () => {
    expect(ids([FRONT], [known, outline('b.ipynb', 'b1')], 'Cell 2 of a.ipynb')?.[1]).toBe('a2');
  });

  it('shift when the run inserts cells', () => {
    const after = insertion('a.ipynb', 'new', { at: 'after', after: 'a1' });
    expect(ids([], [known, after])).toEqual(['a1', 'new', 'a2', 'a3']);
    expect(ids([], [known, insertion('a.ipynb', 'new', { at: 'start' })])?.[0]).toBe('new');
    expect(ids([], [known, insertion('a.ipynb', 'new')])).toEqual(['a1', 'a2', 'a3', 'new']);
    expect(ids([FRONT], [insertion('a.ipynb', 'new')])).toEqual([]); // how many there are is not known
  });

  it('are dropped when the run may have moved them', () => {
    expect(ids([], [known, insertion('a.ipynb', 'new', { at: 'after', after: 'unseen' })])).toEqual([]);
    expect(ids([], [known, call('notebook_move_cell', 'a.ipynb', { moved: true })])).toEqual([]);
    expect(ids([], [known, call('notebook_delete_cell', 'a.ipynb', { moved: true })])).toEqual([]);
  });

  it('are those last seen', () => {
    const again = outline('a.ipynb', 'a1', 'a3');
    expect(ids([], [known, again])).toEqual(['a1', 'a3']);
    const part = call('notebook_outline', 'a.ipynb', { total: 4, cells: [{ number: 4, id: 'a3' }] });
    expect(ids([], [known, part])).toEqual([undefined, undefined, undefined, 'a3']);
  });

  it('are limited to valid ones, whatever was stored', () => {
    const odd = { total: -1, cells: [{ number: 'x', id: 'a1' }, null, { number: 2 }], inserted: 7, ran: {} };
    expect(ids([], [call('notebook_outline', 'a.ipynb', odd)])).toEqual([]);
  });
});
