import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { phrasesOf } from '../src/features/chat/action_words';
import { newRun, newToolCall } from '../src/features/chat/conversation';
import type { Run, ToolCall } from '../src/features/chat/conversation';
import { applyEvent } from '../src/features/chat/run_events';
import { answerOf, cellOf, failureOf, fileOf, memoryOf, toolLine } from '../src/features/chat/tool_words';
import { fromEntries } from '../src/features/chat/transcript';
import type { EventFrame } from '../src/protocol/frames';
import type { FailureInfo, LabelInfo } from '../src/protocol/wire';

const trans = nullTranslator.load('onyx_jupyter');
const RUN_CELL: LabelInfo = { action: 'run_cell', object: 'sub/a.ipynb', objectKind: 'path' };

function call(status: ToolCall['status'], more: Partial<ToolCall> = {}): ToolCall {
  return { ...newToolCall('c', 'notebook_run_cell', {}), label: RUN_CELL, status, ...more };
}
const failed = (kind: FailureInfo['kind'], reason = '') => call('failed', { failure: { kind, reason } });
const verb = (of: ToolCall) => toolLine(of, trans).verb;

describe('the label of a call', () => {
  it('says what it does while running, and what it did afterwards', () => {
    expect(toolLine(call('running'), trans)).toEqual({
      verb: 'Run a cell of',
      object: 'a.ipynb',
      isCode: false
    });
    expect(verb(call('waiting'))).toBe('Run a cell of');
    expect(verb(call('ok'))).toBe('Ran a cell of');
  });

  it('reads as not done if it failed, with the reason', () => {
    for (const kind of ['denied', 'invalid', 'not_found', 'unavailable'] as const) {
      expect(verb(failed(kind))).toBe('Run a cell of');
    }
    expect(verb(call('denied', { failure: { kind: 'denied', reason: 'Denied.' } }))).toBe('Run a cell of');
    expect(failureOf(failed('unavailable', 'The kernel waits.'))).toBe('The kernel waits.');
  });

  it('reads as done if what it ran failed, timed out or was stopped', () => {
    for (const kind of ['failed', 'timed_out', 'aborted'] as const) {
      expect(verb(failed(kind))).toBe('Ran a cell of');
    }
    expect(verb(call('failed'))).toBe('Ran a cell of'); // of an older server, which says nothing
  });

  it('pluralizes', () => {
    const label = (count: number): LabelInfo => ({ ...RUN_CELL, action: 'delete_cells', count });
    expect(verb(call('ok', { label: label(1) }))).toBe('Deleted a cell of');
    expect(verb(call('running', { label: label(3) }))).toBe('Delete 3 cells of');
  });

  it('shows code in the code font, and an address without its protocol', () => {
    const line = (label: LabelInfo) => toolLine(call('ok', { label }), trans);
    const ran = line({ action: 'run_command', object: 'ls -la', objectKind: 'code' });
    expect(ran).toEqual({ verb: 'Ran', object: 'ls -la', isCode: true });
    const sent = line({
      action: 'send_request',
      object: 'POST https://example.org/https://x',
      objectKind: 'address'
    });
    expect(sent.object).toBe('POST example.org/https://x');
    expect(line({ action: 'list_folder', object: '/', objectKind: 'path' }).object).toBe('/');
  });

  it('of a tool without a label, or with an unknown one, is its name', () => {
    const unknown = {
      ...newToolCall('c', 'acme_look_up', { limit: 3, query: 'x\ny' }),
      status: 'ok' as const
    };
    const line = { verb: 'acme look up', object: 'x', isCode: false };
    expect(toolLine(unknown, trans)).toEqual(line);
    expect(toolLine({ ...unknown, label: { action: 'of_a_later_version', object: 'z' } }, trans)).toEqual(
      line
    );
  });

  it('is taken from the server’s words, too', () => {
    expect(phrasesOf('insert_and_run_cell', 1, trans)).toEqual([
      'Insert and run a cell in',
      'Inserted and ran a cell in'
    ]);
    expect(phrasesOf('nothing of the kind', 1, trans)).toBeNull();
  });
});

describe('the link of a call', () => {
  const links = (...all: NonNullable<LabelInfo['links']>) =>
    call('ok', { label: { ...RUN_CELL, links: all } });

  it('leads to the cell, file or memory named in its label', () => {
    const both = links({ kind: 'cell', path: 'a.ipynb', cellId: 'c1' }, { kind: 'file', path: 'a.ipynb' });
    expect(cellOf(both)).toEqual({ path: 'a.ipynb', cellId: 'c1' });
    expect(fileOf(both)).toBe('a.ipynb');
    expect(memoryOf(both)).toBeNull();
    expect(memoryOf(links({ kind: 'memory', path: 'MEMORY.md', lines: [3, 5] }))).toEqual({
      path: 'MEMORY.md',
      lines: [3, 5]
    });
    const fact = links({ kind: 'memory', path: 'memory/facts.jsonl', fact: 'f1' });
    expect(memoryOf(fact)).toEqual({ path: 'memory/facts.jsonl', fact: 'f1' });
  });

  it('is absent if it names nothing', () => {
    const plain = call('ok', { label: undefined, output: 'Ran cell c1.', input: { path: 'a.ipynb' } });
    expect([cellOf(plain), fileOf(plain), memoryOf(plain)]).toEqual([null, '', null]);
  });
});

describe('the parts of a label', () => {
  const frame = (event: string, data: object) =>
    ({
      event,
      data: { runId: 'r', sessionKey: 's', seq: 1, callId: 'c', tool: 'exec', ...data }
    }) as EventFrame;
  const label: LabelInfo = { action: 'run_command', object: 'ls', objectKind: 'code' };
  const only = (items: readonly unknown[]) => {
    const [part] = (items[0] as Run).parts;
    return part.kind === 'tool' ? part.call : null;
  };

  it('come with the events of a call', () => {
    const began = applyEvent([newRun('r')], frame('tool.started', { input: {}, activity: label }), 0);
    expect(only(began)?.label).toEqual(label);
    const failure = { kind: 'failed', reason: 'No such file' };
    const over = { ok: false, output: 'x', status: 'failed', failure, data: { notebook: 'a.ipynb' } };
    const ended = only(applyEvent(began, frame('tool.finished', over), 0));
    expect(ended).toMatchObject({ label, failure, data: { notebook: 'a.ipynb' } });
  });

  it('come with the approval', () => {
    const asked = {
      approvalId: 'a',
      toolName: 'exec',
      summary: '',
      details: {},
      expiresAt: '',
      activity: label
    };
    expect(only(applyEvent([newRun('r')], frame('exec.approval_request', asked), 0))?.label).toEqual(label);
  });

  it('come with a transcript, also for a call without a result', () => {
    const base = { v: 1, ts: '', content: '' };
    const entries = [
      {
        ...base,
        id: 'a',
        role: 'assistant' as const,
        tool_calls: [{ id: 'c', name: 'exec', arguments: {} }],
        meta: { runId: 'r', activities: { c: label } }
      },
      {
        ...base,
        id: 't',
        role: 'tool' as const,
        tool_call_id: 'c',
        meta: { runId: 'r', status: 'ok', data: { answer: 'b\nc' } }
      }
    ];
    expect(only(fromEntries(entries.slice(0, 1)))?.label).toEqual(label);
    const read = only(fromEntries(entries))!;
    expect(read.label).toEqual(label);
    expect(answerOf(read, trans)).toBe('The user answered: b');
  });
});
