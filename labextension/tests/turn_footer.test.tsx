import { act } from 'react';
import { describe, expect, it, vi } from 'vitest';

import { TurnFooter } from '../src/features/review/turn_footer';
import type { TurnInfo } from '../src/protocol/wire';
import { drawAnew, host, render } from './drawing';

drawAnew();

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

const undo = vi.fn();
const putBack = vi.fn();
const draw = (turn: Partial<TurnInfo>) => {
  const state = { turn: { ...TURN, ...turn }, isBusy: false, outcome: null, problem: null };
  return render(<TurnFooter state={state} online review={() => undefined} undo={undo} putBack={putBack} />);
};
const shown = () => [...(host.firstChild?.childNodes ?? [])].map(node => node.textContent);
const button = (name: string) => host.querySelector<HTMLElement>(`[data-onyx=turn-${name}]`);

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
