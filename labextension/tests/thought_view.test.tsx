import { act } from 'react';
import { expect, it, vi } from 'vitest';

import { RunView } from '../src/features/chat/run_view';
import { newRun } from '../src/features/chat/conversation';
import type { Part, RunStatus } from '../src/features/chat/conversation';
import { drawAnew, host, part, render } from './drawing';

vi.mock('@jupyterlab/rendermime', () => ({}));
vi.mock('@jupyterlab/outputarea', () => ({}));

drawAnew();

const HOSTILE = 'I add <b>.\n<img src=x onerror=alert(1)> **two**';

const draw = (parts: Part[], status: RunStatus = 'aborted') => {
  const done = () => Promise.resolve();
  return render(
    <RunView
      run={{ ...newRun('r1'), status, parts }}
      online
      canRetry={false}
      retry={() => undefined}
      approve={done}
      deny={done}
      answer={done}
    />
  );
};
const thought = (text: string, seconds?: number): Part => ({ kind: 'thought', key: 't', text, seconds });
const button = () => host.querySelector<HTMLButtonElement>('[data-onyx=thought] button')!;

it('thoughts are one collapsed line with their duration that expands to plain text', async () => {
  await draw([thought(HOSTILE, 8)]);
  expect(button().textContent).toBe('Thought for 8 s');
  expect(button().getAttribute('aria-expanded')).toBe('false');
  expect(part('thought-text')).toBeNull();
  expect(host.textContent).not.toContain('I add');
  await act(async () => button().click());
  expect(button().getAttribute('aria-expanded')).toBe('true');
  expect(document.getElementById(button().getAttribute('aria-controls')!)!.hidden).toBe(false);
  expect(part('thought-text')!.textContent).toBe(HOSTILE);
  expect(part('thought-text')!.querySelector('img, b, strong')).toBeNull();
  await act(async () => button().click());
  expect(part('thought-text')).toBeNull();
});

it('the line works with the keyboard like a button', async () => {
  await draw([thought('I add.', 8)]);
  expect([button().type, button().disabled, button().tabIndex]).toEqual(['button', false, 0]);
  button().focus();
  expect(document.activeElement).toBe(button());
  expect(button().querySelector('a, button, [tabindex]')).toBeNull();
});

it('while the model is thinking the line says so, keeps its state, and grows', async () => {
  await draw([thought('I')], 'running');
  expect(button().textContent).toBe('Thinking…');
  expect(part('thought')!.dataset.thinking).toBe('true');
  expect(part('working')).toBeNull();
  await act(async () => button().click());
  await draw([thought('I add.')], 'running');
  expect(part('thought-text')!.textContent).toBe('I add.');
  await draw([thought('I add.', 65)], 'running');
  expect(button().textContent).toBe('Thought for 1 min 5 s');
  expect(button().getAttribute('aria-expanded')).toBe('true');
  expect(part('working')).not.toBeNull();
});

it('a thought without visible text says so when expanded', async () => {
  await draw([thought('')], 'running');
  await act(async () => button().click());
  expect(part('thought-text')!.textContent).toBe('Nothing to show yet.');
});

it('a thought without a known end has no duration', async () => {
  await draw([thought('I add')], 'interrupted');
  expect(button().textContent).toBe('Thought');
});

it('a run with thoughts only shows no answer', async () => {
  await draw([thought('Nothing to say here.', 2)], 'final');
  expect(part('run')!.hidden).toBe(true);
  await draw([thought('Nothing to say here.', 2)]);
  expect(part('run')!.hidden).toBe(false);
});
