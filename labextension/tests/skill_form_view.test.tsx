import { act } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';

import { SkillForm } from '../src/features/skills/skill_form';
import type { SkillField } from '../src/protocol/wire';
import { drawAnew, host, render } from './drawing';

drawAnew();

const run = vi.fn();
/** As each reading of the list gives them: new objects. */
const rows = (value: number): SkillField[] => [
  { name: 'rows', type: 'integer', required: false, hasDefault: true, default: value }
];
const draw = (fields: SkillField[]) =>
  render(
    <SkillForm
      {...{ fields, run }}
      filled={null}
      place=""
      blocked=""
      isRunning={false}
      complete={() => Promise.resolve([])}
      stop={() => undefined}
    />
  );
const input = () => host.querySelector<HTMLInputElement>('[name=rows]')!;
const type = (text: string) =>
  act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(input(), text);
    input().dispatchEvent(new Event('input', { bubbles: true }));
  });

beforeEach(() => {
  run.mockClear();
});

it('keeps typed values when the skill list is reloaded, unless the fields change', async () => {
  await draw(rows(3));
  expect(input().value).toBe('3');
  await type('21');
  await draw(rows(3));
  expect(input().value).toBe('21');
  await act(async () => host.querySelector('form')!.requestSubmit());
  expect(run).toHaveBeenCalledWith({ rows: 21 });

  await draw(rows(4));
  expect(input().value).toBe('4');
});
