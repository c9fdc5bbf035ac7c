import { beforeEach, expect, it, vi } from 'vitest';

import type { MemoryFile } from '../src/features/memory/memory_file';
import { MemoryVersions } from '../src/features/memory/memory_versions';
import type { MemoryVersionInfo } from '../src/protocol/wire';
import { drawAnew, host, render } from './drawing';

drawAnew();

const VERSIONS: MemoryVersionInfo[] = [5, 4].map(number => ({
  ...{ version: number, at: '2026-11-22T06:00:00Z', author: 'user', sizeBytes: 1, current: number === 5 }
}));
const showOlder = vi.fn();

const draw = (versionCount: number, online = true, isReadingOlder = false) => {
  const nothing = () => undefined;
  const shown = { versions: VERSIONS, versionCount, isReadingOlder, showOlder };
  const file = { ...shown, comparison: null, compared: null } as unknown as MemoryFile;
  return render(
    <MemoryVersions {...{ file, online, drawDiff: () => nothing, titleOf: () => null, openSession: null }} />
  );
};
const older = () => host.querySelector<HTMLElement>('[data-onyx=memory-older]');

beforeEach(() => {
  showOlder.mockReset();
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
