import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { TurnFooter } from '../src/features/review/turn_footer';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { TurnInfo } from '../src/protocol/wire';

const TURN: TurnInfo = {
  runId: 'r',
  cells: 2,
  ran: 0,
  pending: 0,
  standing: 0,
  notebooks: [{ path: 'a.ipynb', cells: 2 }],
  created: [],
  undone: true
};

let root: Root;
let host: HTMLElement;
const undo = vi.fn();
const putBack = vi.fn();
const draw = (turn: Partial<TurnInfo>) => {
  const ui = { trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui;
  const state = { turn: { ...TURN, ...turn }, isBusy: false, outcome: null, problem: null };
  return act(async () =>
    root.render(
      <UiProvider value={ui}>
        <TurnFooter state={state} online review={() => undefined} undo={undo} putBack={putBack} />
      </UiProvider>
    )
  );
};
const shown = () => [...(host.firstChild?.childNodes ?? [])].map(node => node.textContent);
const button = (name: string) => host.querySelector<HTMLElement>(`[data-onyx=turn-${name}]`);

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
});

describe('the footer of a turn', () => {
  it('an undo can be reverted, and a partial one also completed', async () => {
    await draw({});
    expect(shown()).toEqual(['Undone', 'Put back']);
    await draw({ standing: 1 });
    expect(shown()).toEqual(['Undone in part', 'Undo the rest', 'Put back']);
    await act(async () => button('undo')?.click());
    await act(async () => button('put-back')?.click());
    expect([undo.mock.calls, putBack.mock.calls]).toEqual([[['r']], [['r']]]);
  });

  it('remaining changes can be undone, and cells rejected one by one cannot', async () => {
    await draw({ undone: false, standing: 2 });
    expect(shown()).toEqual(['2 cells changed', 'Undo this turn']);
    await draw({ undone: false });
    expect(shown()).toEqual(['2 cells changed · reverted']);
  });
});
