import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { EmptyState } from '../src/features/chat/empty_state';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';

// JupyterLab's components do not load outside of a browser, and none is drawn here.
vi.mock('@jupyterlab/ui-components', () => ({}));

let root: Root;
let host: HTMLElement;
const ask = vi.fn();
const draw = (notebook: string | null, fix: { text: string; send: () => void } | null) => {
  const ui = { trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui;
  const standard = { model: 'a/b', isLocal: false, noModel: null, connectModel: () => undefined };
  return act(async () =>
    root.render(
      <UiProvider value={ui}>
        <EmptyState {...standard} notebook={notebook} fix={fix} ask={ask} />
      </UiProvider>
    )
  );
};
const tries = () => [...host.querySelectorAll<HTMLElement>('[data-onyx=suggestion]')];

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
  ask.mockReset();
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
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
