import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import type { ToolCall } from '../src/models/conversation';
import { failureOf, toolLine } from '../src/models/tool_words';

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
