import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { MemoryVersions } from '../src/features/memory/memory_versions';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { MemoryVersionInfo } from '../src/protocol/wire';

vi.mock('@jupyterlab/ui-components', () => ({ undoIcon: { react: () => null } }));

const VERSIONS: MemoryVersionInfo[] = [5, 4].map(number => ({
  ...{ version: number, at: '2026-11-22T06:00:00Z', author: 'user', sizeBytes: 1, current: number === 5 }
}));
const showOlder = vi.fn();
let root: Root;
let host: HTMLElement;

const draw = (versionCount: number, online = true, isReadingOlder = false) => {
  const ui = { trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui;
  const nothing = () => undefined;
  return act(async () =>
    root.render(
      <UiProvider value={ui}>
        <MemoryVersions
          {...{ versions: VERSIONS, versionCount, online, isReadingOlder, showOlder, isBusy: false }}
          {...{ comparison: null, compared: null, compare: nothing, restore: nothing, openSession: null }}
          drawDiff={() => nothing}
          titleOf={() => null}
        />
      </UiProvider>
    )
  );
};
const older = () => host.querySelector<HTMLElement>('[data-onyx=memory-older]');

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  showOlder.mockReset();
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
});

it('offers older versions if there are any, once at a time and while connected', async () => {
  await draw(7);
  expect(host.textContent).toContain('5 more');
  older()!.click();
  expect(showOlder).toHaveBeenCalledTimes(1);
  for (const [online, isReading] of [
    [false, false],
    [true, true]
  ]) {
    await draw(7, online, isReading);
    expect(older()!.getAttribute('aria-disabled')).toBe('true');
    older()!.click();
  }
  expect(showOlder).toHaveBeenCalledTimes(1);
  await draw(2);
  expect(older()).toBeNull();
});
