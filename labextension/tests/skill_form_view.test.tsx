import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { SkillForm } from '../src/features/skills/skill_form';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { SkillField } from '../src/protocol/wire';

let root: Root;
let host: HTMLElement;
const run = vi.fn();
/** As each reading of the list gives them: new objects. */
const rows = (value: number): SkillField[] => [
  { name: 'rows', type: 'integer', required: false, hasDefault: true, default: value }
];
const draw = (fields: SkillField[]) =>
  act(async () =>
    root.render(
      <UiProvider value={{ trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui}>
        <SkillForm
          {...{ fields, run }}
          filled={null}
          place=""
          blocked=""
          isRunning={false}
          complete={() => Promise.resolve([])}
          stop={() => undefined}
        />
      </UiProvider>
    )
  );
const input = () => host.querySelector<HTMLInputElement>('[name=rows]')!;
const type = (text: string) =>
  act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(input(), text);
    input().dispatchEvent(new Event('input', { bubbles: true }));
  });

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  run.mockClear();
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
  vi.unstubAllGlobals();
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
