import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { describe, expect, it, vi } from 'vitest';

import { MarkedNotebook } from '../src/features/review/marked_notebook';

// JupyterLab's components do not load outside of a browser, and none is drawn here.
vi.mock('@jupyterlab/ui-components', () => ({
  ReactWidget: class {
    node = document.createElement('div');
    addClass() {}
    hide() {}
    update() {}
    dispose() {}
  }
}));
vi.mock('../src/features/review/review_bar', () => ({ ReviewBar: () => null }));
vi.mock('../src/features/review/cell_mark', () => ({ CellMarkWidget: class {} }));

describe('a removed cell below one that is not rendered yet', () => {
  it('is waited for once, however often the notebook is rendered', () => {
    const ready = { then: vi.fn() };
    const sharedModel = { getSource: () => '' };
    const host = { model: { id: 'a', type: 'code', sharedModel }, isPlaceholder: () => true, ready };
    const signal = () => new Signal<object, void>({});
    const marks = {
      marks: [{ cellId: 'gone', kinds: ['deleted'], above: ['a'], turns: [], working: false }],
      changed: signal(),
      outcome: null,
      problem: null,
      dispose: () => undefined
    };
    const content = {
      model: {},
      widgets: [host],
      modelContentChanged: signal(),
      modelChanged: signal(),
      outerNode: document.createElement('div')
    };
    const panel = {
      content,
      context: { pathChanged: signal() },
      contentHeader: { addWidget: () => undefined },
      disposed: signal()
    };
    const trans = nullTranslator.load('onyx_jupyter');
    const marked = new MarkedNotebook(panel as never, marks as never, trans, () => () => undefined);
    for (let count = 0; count < 5; count += 1) {
      marks.changed.emit();
    }
    expect(marked.shown).toHaveLength(1);
    expect(ready.then).toHaveBeenCalledOnce();
    marked.dispose();
  });
});
