import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { RunView } from '../src/features/chat/run_view';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import { newRun } from '../src/features/chat/conversation';
import type { Part, RunStatus } from '../src/features/chat/conversation';

vi.mock('@jupyterlab/ui-components', () => {
  const icon = { react: () => null };
  const names = [
    'addBelowIcon',
    'caretDownIcon',
    'caretRightIcon',
    'checkIcon',
    'closeIcon',
    'copyIcon',
    'historyIcon',
    'infoIcon'
  ];
  return Object.fromEntries(names.map(name => [name, icon]));
});
vi.mock('@jupyterlab/rendermime', () => ({}));
vi.mock('@jupyterlab/outputarea', () => ({}));

const HOSTILE = 'I add <b>.\n<img src=x onerror=alert(1)> **two**';

let root: Root;
let host: HTMLElement;
const draw = (parts: Part[], status: RunStatus = 'aborted') => {
  const ui = { trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui;
  const done = () => Promise.resolve();
  return act(async () =>
    root.render(
      <UiProvider value={ui}>
        <RunView
          run={{ ...newRun('r1'), status, parts }}
          online
          canRetry={false}
          retry={() => undefined}
          approve={done}
          deny={done}
          answer={done}
        />
      </UiProvider>
    )
  );
};
const thought = (text: string, seconds?: number): Part => ({ kind: 'thought', key: 't', text, seconds });
const find = (hook: string) => host.querySelector<HTMLElement>(`[data-onyx=${hook}]`);
const button = () => host.querySelector<HTMLButtonElement>('[data-onyx=thought] button')!;

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
});

it('thoughts are one collapsed line with their duration that expands to plain text', async () => {
  await draw([thought(HOSTILE, 8)]);
  expect(button().textContent).toBe('Thought for 8 s');
  expect(button().getAttribute('aria-expanded')).toBe('false');
  expect(find('thought-text')).toBeNull();
  expect(host.textContent).not.toContain('I add');
  await act(async () => button().click());
  expect(button().getAttribute('aria-expanded')).toBe('true');
  expect(document.getElementById(button().getAttribute('aria-controls')!)!.hidden).toBe(false);
  expect(find('thought-text')!.textContent).toBe(HOSTILE);
  expect(find('thought-text')!.querySelector('img, b, strong')).toBeNull();
  await act(async () => button().click());
  expect(find('thought-text')).toBeNull();
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
  expect(find('thought')!.dataset.thinking).toBe('true');
  expect(find('working')).toBeNull();
  await act(async () => button().click());
  await draw([thought('I add.')], 'running');
  expect(find('thought-text')!.textContent).toBe('I add.');
  await draw([thought('I add.', 65)], 'running');
  expect(button().textContent).toBe('Thought for 1 min 5 s');
  expect(button().getAttribute('aria-expanded')).toBe('true');
  expect(find('working')).not.toBeNull();
});

it('a thought without visible text says so when expanded', async () => {
  await draw([thought('')], 'running');
  await act(async () => button().click());
  expect(find('thought-text')!.textContent).toBe('Nothing to show yet.');
});

it('a thought without a known end has no duration', async () => {
  await draw([thought('I add')], 'interrupted');
  expect(button().textContent).toBe('Thought');
});

it('a run with thoughts only shows no answer', async () => {
  await draw([thought('Nothing to say here.', 2)], 'final');
  expect(find('run')!.hidden).toBe(true);
  await draw([thought('Nothing to say here.', 2)]);
  expect(find('run')!.hidden).toBe(false);
});
