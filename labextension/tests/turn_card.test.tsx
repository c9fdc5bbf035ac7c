import { act } from 'react';
import { expect, it, vi } from 'vitest';

import { TurnCard } from '../src/features/cell_card/turn_card';
import { asStoredTurn } from '../src/features/cell_card/cell_turn';
import { isRun } from '../src/features/chat/conversation';
import type { Run } from '../src/features/chat/conversation';
import { fromEntries } from '../src/features/chat/transcript';
import { drawAnew, host, render } from './drawing';

vi.mock('@jupyterlab/rendermime', () => ({}));
vi.mock('@jupyterlab/outputarea', () => ({}));

drawAnew();

const STEPS = [
  { text: 'Load the table', status: 'done' },
  { text: 'Fit the model', status: 'doing' }
];
const base = { v: 1, ts: '2026-11-21T10:00:00Z' };
const [planned] = fromEntries([
  {
    ...base,
    id: 'e1',
    role: 'assistant' as const,
    content: '',
    tool_calls: [{ id: 'c1', name: 'plan_update', arguments: { steps: STEPS } as Record<string, unknown> }],
    meta: { runId: 'r1' }
  },
  {
    ...base,
    id: 'o1',
    role: 'tool' as const,
    content: '',
    tool_call_id: 'c1',
    meta: { runId: 'r1', status: 'ok' }
  }
]).filter(isRun);

const draw = (run: Run | null, stored: unknown = {}) => {
  const done = () => Promise.resolve();
  return render(
    <TurnCard
      stored={asStoredTurn(stored)}
      run={run}
      isFollowed
      online
      openSession={null}
      approve={done}
      deny={done}
      answer={done}
    />
  );
};
const plans = () => [...host.querySelectorAll('[data-onyx=plan]')];
const line = () => host.querySelector<HTMLElement>('[data-onyx=plan-line]');
const steps = () => [...host.querySelectorAll('[data-onyx=plan-step]')].map(node => node.textContent);

it('an asking cell shows the plan once: while running, at the end, and collapsed', async () => {
  await draw({ ...planned, status: 'running' });
  expect(plans()).toHaveLength(1);
  expect(line()?.textContent).toBe('1 of 2Fit the model');
  expect(steps()).toEqual(['Load the table', 'Fit the model']);
  await act(async () => line()?.click());

  await draw({ ...planned, status: 'final' });
  expect(plans()).toHaveLength(1);

  const over = STEPS.map(step => ({ ...step, status: 'done' }));
  await draw(null, { status: 'final', parts: [{ kind: 'plan', steps: over }] });
  expect(plans()).toHaveLength(1);
  expect(line()?.textContent).toBe('2 of 2Plan done');
  expect(line()?.getAttribute('aria-expanded')).toBe('true'); // as it was left
  expect(host.textContent).not.toContain('step');
});

it('has no plan line without a plan', async () => {
  await draw(null, { status: 'final', parts: [{ kind: 'text', text: '' }] });
  expect(plans()).toEqual([]);
});
