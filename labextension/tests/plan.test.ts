import { describe, expect, it } from 'vitest';

import { isRun } from '../src/features/chat/conversation';
import { isPlanPart, planOf, readPlan } from '../src/features/chat/plan';
import { applyEvent } from '../src/features/chat/run_events';
import { fromEntries } from '../src/features/chat/transcript';
import type { Conversation, Run } from '../src/features/chat/conversation';

const STEPS = [
  { text: 'Load the data', status: 'done' },
  { text: 'Fit the model', status: 'doing' },
  { text: 'Write a report', status: 'pending' },
  { text: 'Ask for more data', status: 'dropped' }
];
const LATER = STEPS.map(step => (step.status === 'dropped' ? step : { ...step, status: 'done' }));

const base = { v: 1, ts: '2026-11-21T10:00:00Z' };
const called = (id: string, steps: unknown) => ({
  ...base,
  id: `e-${id}`,
  role: 'assistant' as const,
  content: '',
  tool_calls: [{ id, name: 'plan_update', arguments: { steps } as Record<string, unknown> }],
  meta: { runId: 'r1' }
});
const result = (id: string, status = 'ok') => ({
  ...base,
  id: `o-${id}`,
  role: 'tool' as const,
  content: 'Shown',
  tool_call_id: id,
  meta: { runId: 'r1', status }
});
const runOf = (items: Conversation): Run => items.filter(isRun)[0];

describe('the plan of a run', () => {
  it('counts completed steps without dropped ones, and names the current one', () => {
    expect(readPlan(STEPS)).toMatchObject({ done: 1, total: 3, current: 'Fit the model' });
    expect(readPlan(LATER)).toMatchObject({ done: 3, total: 3, current: '' });
    expect(readPlan([STEPS[0], STEPS[2]])).toMatchObject({ current: 'Write a report' });
  });

  it('is the latest accepted one, also after a reload', () => {
    const entries = [called('c1', STEPS), result('c1'), called('c2', LATER), result('c2')];
    expect(planOf(runOf(fromEntries(entries)))).toMatchObject({ done: 3 });
    expect(planOf(runOf(fromEntries(entries.slice(0, 3))))).toMatchObject({ done: 1 });
  });

  it('appears as soon as the call has its result', () => {
    let items: Conversation = [];
    const data = { runId: 'r1', sessionKey: 's', seq: 1, callId: 'c1', tool: 'plan_update' };
    items = applyEvent(items, { event: 'tool.started', data: { ...data, input: { steps: STEPS } } }, 0);
    expect(planOf(runOf(items))).toBeNull();
    items = applyEvent(items, { event: 'tool.finished', data: { ...data, ok: true, output: '' } }, 0);
    expect(planOf(runOf(items))).toMatchObject({ done: 1, total: 3 });
    expect(runOf(items).parts.every(isPlanPart)).toBe(true);
  });

  it('ignores an invalid plan, and shows a failed call like any other', () => {
    for (const nonsense of [undefined, 'x', {}, [], [null, 1, { text: 'x', status: 'soon' }, { text: 1 }]]) {
      expect(readPlan(nonsense)).toBeNull();
    }
    const failed = runOf(fromEntries([called('c1', STEPS), result('c1', 'failed')]));
    expect(planOf(failed)).toBeNull();
    expect(failed.parts.some(isPlanPart)).toBe(false);
  });
});
