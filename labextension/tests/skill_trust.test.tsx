import { act } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';

import { SkillTrust } from '../src/features/skills/skill_trust';
import type { SkillDetail } from '../src/protocol/wire';
import { drawAnew, host, part, render } from './drawing';

drawAnew();

const trust = vi.fn((_: string) => Promise.resolve());
const draw = (text: string | null, isReading = false) => {
  const detail =
    text && ({ skill: { id: 'home:count', name: 'count', hash: `of ${text}` }, text } as SkillDetail);
  return render(<SkillTrust detail={detail || null} isReading={isReading} online trust={trust} />);
};

beforeEach(() => {
  trust.mockClear();
});

it('claims nothing about a text that is still loading', async () => {
  await draw(null);
  expect(host.textContent).toBe('Trust this version');
  await draw(null, true);
  expect(host.textContent).toBe('Reading…Trust this version');
  expect(part('trust')?.disabled).toBe(true);
  await draw('print(1)');
  expect(host.textContent).toContain('all of it.print(1)');
  await act(async () => part('trust')?.click());
  expect(trust.mock.calls).toEqual([['of print(1)']]);
});

it('accepts no trust for a text that arrived while reading another', async () => {
  await draw('print(1)');
  await draw('rm()');
  expect(host.textContent).toContain('print(1)');
  expect(host.textContent).not.toContain('rm()');
  expect(part('trust')?.disabled).toBe(true);
  await act(async () => part('trust-show-now')?.click());
  expect(host.textContent).toContain('rm()');
  expect(part('trust-outdated')).toBeNull();
  await act(async () => part('trust')?.click());
  expect(trust.mock.calls).toEqual([['of rm()']]);
});
