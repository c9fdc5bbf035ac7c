import { describe, expect, it, vi } from 'vitest';

import { RunView } from '../src/features/chat/run_view';
import { asksAboutCells } from '../src/features/approvals/cell_questions';
import { findRun, newRun, newToolCall } from '../src/features/chat/conversation';
import type { Conversation, Item, Run, ToolCall } from '../src/features/chat/conversation';
import type { Mode } from '../src/features/composer/mode';
import { appendText, applyEvent, noteScope } from '../src/features/chat/run_events';
import type { EventFrame } from '../src/protocol/frames';
import { drawAnew, host, render } from './drawing';

vi.mock('@jupyterlab/rendermime', () => ({}));
vi.mock('@jupyterlab/outputarea', () => ({}));

drawAnew();

const apply = (items: Conversation, event: string, data: object) =>
  applyEvent(items, { event, data: { runId: 'r1', sessionKey: 's', seq: 1, ...data } } as EventFrame, 0);
const write = (items: Conversation, text: string, begins?: boolean) =>
  apply(items, 'tool.draft', { text, begins });
const begun = write([newRun('r1')], 'import pandas', true);
const run = (items: Conversation) => findRun(items, 'r1')!;
const approval = {
  approvalId: 'a',
  callId: 'c',
  toolName: 'notebook_insert_cell',
  summary: 'Insert a code cell',
  details: { path: 'a.ipynb', source: 'import pandas', sessionScope: 'every cell', alwaysScope: 'this cell' },
  version: 'v1'
};
const asked = (items: Conversation) => run(apply(items, 'exec.approval_request', approval));

describe('a cell draft', () => {
  it('grows, and is replaced if it is rewritten', () => {
    expect(run(write(begun, ' as pd')).draft).toBe('import pandas as pd');
    expect(run(write(write(begun, ' as pd'), 'print(1)', true)).draft).toBe('print(1)');
  });

  it('replaces earlier text when its first token arrives', () => {
    const told = apply([newRun('r1')], 'tool.progress', { callId: '', tool: 'model', message: 'Writing…' });
    expect(run(write(told, '', true)).notice).toBe('Writing…');
    expect(run(write(told, 'x', true))).toMatchObject({ draft: 'x', notice: undefined });
  });

  it('disappears when the call arrives, when text comes instead, and at the end of the run', () => {
    const ends: [string, object][] = [
      ['exec.approval_request', approval],
      ['tool.started', { callId: 'c', tool: 'notebook_insert_cell', input: {} }],
      ['tool.finished', { callId: 'c', tool: 'notebook_insert_cell', ok: false, output: 'no' }],
      ['chat.aborted', {}],
      ['chat.error', { code: 'timeout', message: 'no' }]
    ];
    for (const [event, data] of ends) {
      expect(run(apply(begun, event, data)).draft).toBeUndefined();
    }
    expect(run(appendText(begun, 'r1', 'This cell would do it:')).draft).toBeUndefined();
  });
});

describe('whether a draft will need approval', () => {
  const message = (mode?: Mode): Item => ({
    kind: 'user',
    key: 'm',
    text: 'Add a cell',
    context: [],
    delivery: 'sent',
    runId: 'r1',
    mode
  });
  const call = (tool: string, scope?: string): ToolCall => ({
    ...newToolCall('c', tool, {}),
    status: 'ok',
    decision: { decision: 'approved', scope }
  });
  const before = (done: ToolCall): Run => ({
    ...newRun('r0'),
    status: 'final',
    parts: [{ kind: 'tool', key: 'c', call: done }]
  });
  const asks = (...items: Item[]) => asksAboutCells([...items, newRun('r1')], newRun('r1'));

  it('depends on the mode of the message', () => {
    expect(asks(message())).toBe(true);
    expect(asks(message('auto'))).toBe(false);
    expect(asks(message('ask'))).toBe(false);
  });

  it('follows a session approval of the same kind of change only', () => {
    expect(asks(before(call('notebook_insert_cell', 'session')), message())).toBe(false);
    expect(asks(before(call('notebook_insert_cell', 'once')), message())).toBe(true);
    expect(asks(before(call('notebook_edit_cell', 'session')), message())).toBe(true);
  });

  it('follows an answer given on this page, whichever of answer and event comes first', () => {
    const resolved = (items: Conversation) =>
      apply(items, 'exec.approval_resolved', { approvalId: 'a', decision: 'approved', by: 'me' });
    const noted = (items: Conversation) => noteScope(items, 'a', 'session');
    const waiting = apply([newRun('r1')], 'exec.approval_request', approval);
    for (const items of [resolved(noted(waiting)), noted(resolved(waiting))]) {
      expect(asksAboutCells([...items, message(), newRun('r2')], newRun('r2'))).toBe(false);
    }
  });

  it('follows an approval of edits for a cell being fixed', () => {
    const mends = (first: ToolCall) => {
      const now: Run = { ...newRun('r1'), parts: [{ kind: 'tool', key: 'c', call: first }] };
      return asksAboutCells([before(call('notebook_edit_cell', 'session')), message(), now], now);
    };
    expect(mends(call('notebook_insert_cell', 'once'))).toBe(false);
    expect(mends(call('notebook_run_all', 'once'))).toBe(true);
  });
});

describe('the draft card', () => {
  const done = () => Promise.resolve();
  const draw = (shown: Run, asksForCells = true) =>
    render(
      <RunView
        run={shown}
        asksForCells={asksForCells}
        online
        canRetry={false}
        retry={() => undefined}
        approve={done}
        deny={done}
        answer={done}
      />
    );

  it('shows the code without buttons, and does not announce every letter', async () => {
    await draw(run(write(begun, '\nprint("<b>")')));
    const card = host.querySelector('[data-onyx=cell-draft]')!;
    expect([...card.querySelectorAll('.onyx-Diff-text')].map(line => line.textContent)).toEqual([
      'import pandas',
      'print("<b>")'
    ]);
    expect(card.querySelector('button:enabled')).toBeNull();
    expect(card.querySelector('[data-onyx=diff]')!.closest('[aria-live=off]')).not.toBeNull();
    expect(card.querySelector('[role=status]')!.textContent).toBe('Writing a cell…');
    expect(host.querySelector('[data-onyx=working]')).toBeNull();
  });

  it('reserves space for the buttons, hidden from keyboard and screen reader', async () => {
    const words = (row: Element) => [...row.querySelectorAll('button')].map(button => button.textContent);
    await draw(run(begun));
    const row = host.querySelector('.onyx-Approval-answers')!;
    expect([...row.querySelectorAll('button')].every(button => button.disabled)).toBe(true);
    expect(row.closest('[aria-hidden=true]')).not.toBeNull();
    expect(host.querySelector('[data-onyx=approve-once]')).toBeNull();
    expect(host.querySelector('[data-onyx=cell-draft]')!.textContent).toContain(
      'You can answer when it is complete.'
    );
    const toCome = words(row);
    await draw(asked(begun));
    const card = host.querySelector('[data-onyx=approval]')!;
    expect(words(card.querySelector('.onyx-Approval-answers')!)).toEqual(toCome);
    expect(card.querySelector<HTMLButtonElement>('[data-onyx=approve-once]')!.disabled).toBe(false);
    expect(card.closest('[aria-hidden=true]')).toBeNull();
    // The room is the same: what is in the style sheet for one of these classes is there for the other.
    expect(card.classList.contains('onyx-mod-drafted')).toBe(true);
  });

  it('reserves no space if nobody will be asked', async () => {
    await draw(run(begun), false);
    const card = host.querySelector('[data-onyx=cell-draft]')!;
    expect(card.querySelector('button')).toBeNull();
    expect(card.textContent).not.toContain('You can answer');
  });

  it('moves the focus from its code to the code awaiting approval, never to a button', async () => {
    await draw(run(begun));
    host.querySelector<HTMLElement>('[data-onyx=cell-draft] [data-onyx=diff]')!.focus();
    await draw(asked(begun));
    const code = host.querySelector('[data-onyx=approval] [data-onyx=diff]');
    expect(code).not.toBeNull();
    expect(document.activeElement).toBe(code);
  });

  it('never takes the focus', async () => {
    const input = host.parentElement!.appendChild(document.createElement('input'));
    await draw(run(begun));
    input.focus();
    await draw(asked(begun));
    expect(document.activeElement).toBe(input);
    input.remove();
  });

  it('leaves an approval without draft at its natural height', async () => {
    await draw(asked([newRun('r1')]));
    expect(host.querySelector('[data-onyx=approval]')!.classList.contains('onyx-mod-drafted')).toBe(false);
  });

  it('is not shown before the first letter', async () => {
    await draw(run(write([newRun('r1')], '', true)));
    expect(host.querySelector('[data-onyx=cell-draft]')).toBeNull();
    expect(host.querySelector('[data-onyx=working]')).not.toBeNull();
  });
});
