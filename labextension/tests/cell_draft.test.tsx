import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { RunView } from '../src/components/run_view';
import { UiProvider } from '../src/components/ui_context';
import type { Ui } from '../src/components/ui_context';
import { findRun, newRun } from '../src/models/conversation';
import type { Conversation, Run } from '../src/models/conversation';
import { appendText, applyEvent } from '../src/models/run_events';
import type { EventFrame } from '../src/protocol/frames';

vi.mock('@jupyterlab/ui-components', () => {
  const names = ['addBelowIcon', 'caretDownIcon', 'caretRightIcon', 'checkIcon', 'closeIcon', 'copyIcon'];
  return Object.fromEntries([...names, 'historyIcon', 'infoIcon'].map(name => [name, { react: () => null }]));
});
vi.mock('@jupyterlab/rendermime', () => ({}));
vi.mock('@jupyterlab/outputarea', () => ({}));

const apply = (items: Conversation, event: string, data: object) =>
  applyEvent(items, { event, data: { runId: 'r1', sessionKey: 's', seq: 1, ...data } } as EventFrame, 0);
const write = (items: Conversation, text: string, begins?: boolean) =>
  apply(items, 'tool.draft', { text, begins });
const begun = write([newRun('r1')], 'import pandas', true);
const run = (items: Conversation) => findRun(items, 'r1')!;

describe('the cell that is being written', () => {
  it('grows, and is replaced where it is written again', () => {
    expect(run(write(begun, ' as pd')).draft).toBe('import pandas as pd');
    expect(run(write(write(begun, ' as pd'), 'print(1)', true)).draft).toBe('print(1)');
  });

  it('takes the place of what was told before its first word', () => {
    const told = apply([newRun('r1')], 'tool.progress', { callId: '', tool: 'model', message: 'Writing…' });
    expect(run(write(told, '', true)).notice).toBe('Writing…');
    expect(run(write(told, 'x', true))).toMatchObject({ draft: 'x', notice: undefined });
  });

  it('goes when the call is there, when words come instead, and with the end of the run', () => {
    const approval = {
      approvalId: 'a',
      callId: 'c',
      toolName: 'notebook_insert_cell',
      summary: '',
      details: {}
    };
    const ends: [string, object][] = [
      ['exec.approval_request', approval],
      ['tool.started', { callId: 'c', tool: 'notebook_insert_cell', input: {} }],
      ['tool.finished', { callId: 'c', tool: 'notebook_insert_cell', ok: false, output: 'no' }],
      ['chat.aborted', {}],
      ['chat.error', { code: 'timeout', message: 'no' }]
    ];
    for (const [event, data] of ends) {
      expect(run(apply(begun, event, data)).draft).toBeUndefined();
    }
    expect(run(appendText(begun, 'r1', 'This cell would do it:')).draft).toBeUndefined();
  });
});

describe('its card', () => {
  let root: Root;
  let host: HTMLElement;
  const done = () => Promise.resolve();
  const draw = (shown: Run) =>
    act(async () =>
      root.render(
        <UiProvider value={{ trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui}>
          <RunView
            run={shown}
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

  beforeEach(() => {
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
  });

  afterEach(() => {
    act(() => root.unmount());
    host.remove();
  });

  it('shows the code as it is, without answers, and reads its letters to nobody', async () => {
    await draw(run(write(begun, '\nprint("<b>")')));
    const card = host.querySelector('[data-onyx=cell-draft]')!;
    expect([...card.querySelectorAll('.onyx-Diff-text')].map(line => line.textContent)).toEqual([
      'import pandas',
      'print("<b>")'
    ]);
    expect(card.querySelector('button')).toBeNull();
    expect(card.querySelector('[data-onyx=diff]')!.closest('[aria-live=off]')).not.toBeNull();
    expect(card.querySelector('[role=status]')!.textContent).toBe('Writing a cell…');
    expect(host.querySelector('[data-onyx=working]')).toBeNull();
  });

  it('is not there before the first letter', async () => {
    await draw(run(write([newRun('r1')], '', true)));
    expect(host.querySelector('[data-onyx=cell-draft]')).toBeNull();
    expect(host.querySelector('[data-onyx=working]')).not.toBeNull();
  });
});
