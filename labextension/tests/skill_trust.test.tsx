import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { SkillTrust } from '../src/features/skills/skill_trust';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { SkillDetail } from '../src/protocol/wire';

let root: Root;
let host: HTMLElement;
const trust = vi.fn((_: string) => Promise.resolve());
const draw = (text: string | null, isReading = false) => {
  const ui = { trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui;
  const detail =
    text && ({ skill: { id: 'home:count', name: 'count', hash: `of ${text}` }, text } as SkillDetail);
  return act(async () =>
    root.render(
      <UiProvider value={ui}>
        <SkillTrust detail={detail || null} isReading={isReading} online trust={trust} />
      </UiProvider>
    )
  );
};
const hook = (name: string) => host.querySelector<HTMLButtonElement>(`[data-onyx=${name}]`);

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  trust.mockClear();
  host = document.createElement('div');
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  vi.unstubAllGlobals();
});

it('claims nothing about a text that is still loading', async () => {
  await draw(null);
  expect(host.textContent).toBe('Trust this version');
  await draw(null, true);
  expect(host.textContent).toBe('Reading…Trust this version');
  expect(hook('trust')?.disabled).toBe(true);
  await draw('print(1)');
  expect(host.textContent).toContain('all of it.print(1)');
  await act(async () => hook('trust')?.click());
  expect(trust.mock.calls).toEqual([['of print(1)']]);
});

it('accepts no trust for a text that arrived while reading another', async () => {
  await draw('print(1)');
  await draw('rm()');
  expect(host.textContent).toContain('print(1)');
  expect(host.textContent).not.toContain('rm()');
  expect(hook('trust')?.disabled).toBe(true);
  await act(async () => hook('trust-show-now')?.click());
  expect(host.textContent).toContain('rm()');
  expect(hook('trust-outdated')).toBeNull();
  await act(async () => hook('trust')?.click());
  expect(trust.mock.calls).toEqual([['of rm()']]);
});
