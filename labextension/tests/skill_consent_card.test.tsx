import { act } from 'react';
import { expect, it, vi } from 'vitest';

import { SkillConsentCard } from '../src/features/skills/skill_consent_card';
import type { OpenQuestion } from '../src/features/skills/skill_consent';
import { drawAnew, host, render } from './drawing';

drawAnew();

const QUESTION = {
  expiresAt: '2026-01-02T03:04:05.000Z',
  detail: { skill: { id: 'home:count', name: 'count', description: 'Counts.', hash: 'h1' }, text: 'print(1)' }
} as OpenQuestion;
const NOTHING = { question: null, end: null, online: true, problem: null };
const trust = vi.fn((_: string) => Promise.resolve());
const refuse = vi.fn(() => Promise.resolve());
const draw = (props: Partial<Parameters<typeof SkillConsentCard>[0]>) => {
  return render(<SkillConsentCard {...NOTHING} {...props} trust={trust} refuse={refuse} />);
};
const buttons = () => [...host.querySelectorAll('button')];

it('loads first, and shows nothing else until the text arrives', async () => {
  await draw({});
  expect([host.textContent, buttons()]).toEqual(['Reading…', []]);
  await draw({ problem: 'The disk is gone.' });
  expect([host.textContent, buttons()]).toEqual(['The disk is gone.', []]);
  await draw({ online: false });
  expect([host.textContent, buttons()]).toEqual(['You can answer when the connection is back.', []]);
  await draw({ question: QUESTION });
  expect(host.textContent).toContain('this is all of it.print(1)');
  expect(buttons().map(button => button.disabled)).toEqual([false, false]);
  await act(async () => buttons()[0].click());
  expect(trust.mock.calls).toEqual([['h1']]);
});

it('accepts no answer while disconnected', async () => {
  await draw({ question: QUESTION, online: false });
  expect(buttons().map(button => button.disabled)).toEqual([true, true]);
  expect(host.textContent).toContain('when the connection is back');
});

it.each([
  ['trusted', 'count Trusted. Starting…'],
  ['declined', 'count Not trusted, so it was not run.'],
  ['expired', 'count No one answered in time, so it was not run.'],
  ['gone', 'count This question is no longer open. Run the cell again to be asked again.'],
  ['unusable', 'count It cannot be run. There is no pandas.']
] as const)('collapses to one line when it is over: %s', async (outcome, words) => {
  await draw({ question: QUESTION });
  await draw({ question: QUESTION, end: { outcome, reason: 'There is no pandas.' } });
  expect([host.textContent, buttons()]).toEqual([words, []]);
});

it('needs no name for an unknown question', async () => {
  await draw({ end: { outcome: 'gone' } });
  expect(host.textContent?.trim()).toBe(
    'This question is no longer open. Run the cell again to be asked again.'
  );
});
