import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import type { ToolCall } from '../src/models/conversation';
import { cellOf, failureOf, toolLine } from '../src/models/tool_words';

const trans = nullTranslator.load('onyx_jupyter');

function failed(tool: string, output: string): ToolCall {
  return { callId: 'c', tool, input: { path: 'a.ipynb' }, status: 'failed', output, attachments: [] };
}

describe('a call that failed', () => {
  it('reads as not done where it was not possible, and gives the reason alone', () => {
    const call = failed('notebook_run_cell', 'notebook_run_cell failed (kernel_waits): The kernel waits.');
    expect(toolLine(call, trans).verb).toBe('Run a cell of');
    expect(failureOf(call)).toBe('The kernel waits.');
  });

  it('reads as done where what it ran failed, or took too long', () => {
    const ran = failed('notebook_run_cell', 'Cell c1 raised NameError: x');
    expect(toolLine(ran, trans).verb).toBe('Ran a cell of');
    expect(failureOf(ran)).toBe('Cell c1 raised NameError: x');
    const late = failed('exec', 'exec failed (timeout): still running after 5 s');
    expect(toolLine(late, trans).verb).toBe('Ran');
  });
});

describe('a call that writes a cell and runs it', () => {
  const both = (output: string, status: ToolCall['status'] = 'failed'): ToolCall => ({
    ...failed('notebook_insert_cell', output),
    input: { path: 'a.ipynb', run: true },
    status
  });
  const inserted = 'Inserted code cell c1 (hash 0123) into a.ipynb.\n';

  it('says both', () => {
    expect(toolLine(both('', 'running'), trans).verb).toBe('Insert and run a cell in');
    const done = both(`${inserted}Ran cell c1 [1].\nnew`, 'ok');
    expect(toolLine(done, trans).verb).toBe('Inserted and ran a cell in');
    expect(cellOf(done)).toEqual({ path: 'a.ipynb', cellId: 'c1' });
    const edited = { ...done, tool: 'notebook_edit_cell' };
    expect(toolLine(edited, trans).verb).toBe('Edited and ran a cell of');
  });

  it('gives what came of the run as the reason of a failure', () => {
    const raised = both(`${inserted}Cell c1 [1] raised an error.\nNameError: x`);
    expect(toolLine(raised, trans).verb).toBe('Inserted and ran a cell in');
    expect(failureOf(raised)).toBe('Cell c1 [1] raised an error.');
    const stayed = both(`${inserted}The cell stays; running it failed (no_kernel): It did not start.`);
    expect(toolLine(stayed, trans).verb).toBe('Insert and run a cell in');
    expect(failureOf(stayed)).toBe('The cell stays; running it failed (no_kernel): It did not start.');
  });
});

describe('the cell of a call', () => {
  it('is the one that the result names, also where the call named it by number or called another tool', () => {
    const ran = {
      ...failed('notebook_run_cell', 'Ran cell c-9 [1].\n2'),
      input: { path: 'a.ipynb', cellId: '3' }
    };
    expect(cellOf(ran)).toEqual({ path: 'a.ipynb', cellId: 'c-9' });
    const made = failed('notebook_run_cell', 'Inserted code cell c2 (hash 0123) into a.ipynb.\nRan cell c2.');
    expect(cellOf(made)).toEqual({ path: 'a.ipynb', cellId: 'c2' });
    const denied = { ...failed('notebook_edit_cell', 'Denied.'), input: { path: 'a.ipynb', cellId: 'c1' } };
    expect(cellOf(denied)).toEqual({ path: 'a.ipynb', cellId: 'c1' });
    expect(cellOf(failed('exec', 'Ran cell c1.'))).toBeNull();
    expect(cellOf(failed('notebook_run_all', 'Cell 5 (c1) raised an error; 2 ran before it.'))).toBeNull();
  });
});
