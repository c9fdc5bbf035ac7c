import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { EmptyState } from '../src/features/chat/empty_state';
import { drawAnew, host, render } from './drawing';

drawAnew();

const ask = vi.fn();
const draw = (notebook: string | null, fix: { text: string; send: () => void } | null) => {
  const standard = { model: 'a/b', isLocal: false, noModel: null, connectModel: () => undefined };
  return render(<EmptyState {...standard} notebook={notebook} fix={fix} ask={ask} />);
};
const tries = () => [...host.querySelectorAll<HTMLElement>('[data-onyx=suggestion]')];

beforeEach(() => {
  ask.mockReset();
});

describe('the three suggestions', () => {
  it('are about the current notebook, the last one about its error if there is one', async () => {
    const send = vi.fn();
    await draw('a/plot.ipynb', { text: 'Fix the error in cell 4', send });
    expect(tries().map(one => one.textContent)).toEqual([
      'What does plot.ipynb do?',
      'Add a cell to plot.ipynb that plots its data',
      'Fix the error in cell 4'
    ]);
    await act(async () => tries()[2].click());
    expect(send).toHaveBeenCalledOnce();
    expect(ask).not.toHaveBeenCalled();
  });

  it('have their own wording without an error', async () => {
    await draw('a/plot.ipynb', null);
    await act(async () => tries()[2].click());
    expect(ask).toHaveBeenCalledWith('Check plot.ipynb for mistakes');
    await draw(null, null);
    expect(tries()[0].textContent).toBe('What can you do here?');
  });
});
