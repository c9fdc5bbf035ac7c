import { nullTranslator } from '@jupyterlab/translation';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';

import { ApprovalDetails } from '../src/features/approvals/approval_details';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { ApprovalInfo } from '../src/protocol/wire';

const draw = (details: object) => {
  const approval = { approvalId: 'a', toolName: 'notebook_run_cell', summary: '', details } as ApprovalInfo;
  const host = document.createElement('div');
  host.innerHTML = renderToStaticMarkup(
    <UiProvider value={{ trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui}>
      <ApprovalDetails approval={approval} />
    </UiProvider>
  );
  return host;
};

it('lists the shell commands of a cell above its code, with invisible characters marked', () => {
  const host = draw({
    path: 'a.ipynb',
    source: 'x = 1\n!ls\n!rm \u202ea',
    commands: ['ls', 'rm \u202ea']
  });
  const [commands, code] = host.querySelectorAll('[data-onyx=approval-source]');
  expect(commands.closest('[data-onyx=cell-commands]')!.textContent).toContain('these commands in a shell');
  expect(commands.textContent).toContain('ls\nrm U+202E');
  expect(code.textContent).toContain('x = 1');
});

it('shows no commands if there are none', () => {
  expect(draw({ path: 'a.ipynb', source: 'x = 1' }).querySelector('[data-onyx=cell-commands]')).toBeNull();
});
