import { nullTranslator } from '@jupyterlab/translation';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ContextItem } from '../src/protocol/wire';
import { ContextDrop } from '../src/features/composer/context_drop';
import { addErrorOutputs, ERROR_MIME } from '../src/features/cell_actions/error_output';

vi.hoisted(() => {
  // Lumino asks for it when it loads, and jsdom has none.
  (globalThis as { DragEvent?: unknown }).DragEvent ??= class extends Event {};
});

const trans = nullTranslator.load('onyx_jupyter');

class Traceback extends Widget implements IRenderMime.IRenderer {
  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.node.textContent = String(model.data['application/vnd.jupyter.stderr']);
    return Promise.resolve();
  }
}

/** As much of JupyterLab's registry as is asked for. */
function registry() {
  const factories: Array<{ factory: IRenderMime.IRendererFactory; rank?: number }> = [];
  return {
    factories,
    getFactory: () => ({ createRenderer: () => new Traceback() }),
    addFactory: (factory: IRenderMime.IRendererFactory, rank?: number) => factories.push({ factory, rank })
  };
}

let host: HTMLElement;
beforeEach(() => {
  host = document.body.appendChild(document.createElement('div'));
});
afterEach(() => host.remove());

describe('an error output', () => {
  const actions = { fix: vi.fn(), explain: vi.fn() };
  const render = async (place: HTMLElement, ename = 'KeyError') => {
    const rendermime = registry();
    addErrorOutputs(rendermime as unknown as IRenderMimeRegistry, actions, trans);
    const [{ factory }] = rendermime.factories;
    expect(factory.mimeTypes).toEqual([ERROR_MIME]);
    const output = factory.createRenderer({ mimeType: ERROR_MIME } as IRenderMime.IRendererOptions);
    const data = { 'application/vnd.jupyter.stderr': 'KeyError', [ERROR_MIME]: { ename } };
    await output.renderModel({ data, metadata: {}, trusted: false } as unknown as IRenderMime.IMimeModel);
    Widget.attach(output, place);
    return output;
  };
  const inCell = () => {
    host.innerHTML = '<div class="jp-Notebook"><div class="jp-CodeCell"></div></div>';
    return host.querySelector<HTMLElement>('.jp-CodeCell')!;
  };
  const row = (of: Widget) => of.node.querySelector<HTMLElement>('[data-onyx=error-actions]')!;

  it('keeps its traceback, with actions below', async () => {
    const output = await render(inCell());
    expect(output.node.firstElementChild!.textContent).toBe('KeyError');
    expect(row(output).textContent).toBe('Fix·Explain');
    row(output).querySelector<HTMLElement>('[data-onyx=fix-error]')!.click();
    expect(actions.fix).toHaveBeenCalledWith(output.node);
    expect(actions.explain).not.toHaveBeenCalled();
    output.dispose();
    expect(document.querySelector('[data-onyx=error-actions]')).toBeNull();
  });

  it('has no actions if there is nothing to fix: an interrupted cell or question', async () => {
    for (const ename of ['KeyboardInterrupt', 'MagicError']) {
      const output = await render(inCell(), ename);
      expect(row(output).classList.contains('lm-mod-hidden')).toBe(true);
      output.dispose();
    }
  });

  it('has no actions outside a notebook cell, and gets them when it is moved back into one', async () => {
    const output = await render(host);
    expect(row(output).classList.contains('lm-mod-hidden')).toBe(true);
    Widget.detach(output);
    Widget.attach(output, inCell());
    expect(row(output).classList.contains('lm-mod-hidden')).toBe(false);
    output.dispose();
  });
});

describe('a drop onto the chat', () => {
  const CELL: ContextItem = { type: 'cell', path: 'a.ipynb', cellId: 'c1' };
  const SELECTED: ContextItem = { type: 'selection', path: 'a.py', text: 'x = 1' };
  let drop: ContextDrop;
  let added: ContextItem[];
  let dragged: ContextItem[];

  beforeEach(() => {
    added = [];
    dragged = [CELL];
    drop = new ContextDrop(host, {
      itemsOf: () => dragged,
      selection: () => SELECTED,
      add: items => added.push(...items)
    });
  });
  const send = (type: string, more: object) => {
    const event = Object.assign(new Event(type, { bubbles: true, cancelable: true }), more);
    host.dispatchEvent(event);
    return event as Event & { dropAction?: string };
  };
  const isMarked = () => host.classList.contains('onyx-mod-drop');
  const text = (words: string) => ({ dataTransfer: { types: ['text/plain'], getData: () => words } });

  it('is indicated while possible, and does not move cells or files', () => {
    expect(send('lm-dragenter', { proposedAction: 'copy' }).defaultPrevented).toBe(true);
    expect(isMarked()).toBe(true);
    const event = send('lm-drop', { proposedAction: 'move' });
    expect(event.dropAction).toBe('none');
    expect(added).toEqual([CELL]);
    expect(isMarked()).toBe(false);
  });

  it('is ignored if the dragged data is not usable', () => {
    dragged = [];
    expect(send('lm-dragenter', {}).defaultPrevented).toBe(false);
    send('lm-drop', {});
    expect([isMarked(), added]).toEqual([false, []]);
  });

  it('takes a selection as such, and other text as text', () => {
    expect(send('drop', text('x = 1\n')).defaultPrevented).toBe(true);
    expect(added).toEqual([SELECTED]);
    expect(send('drop', text('from elsewhere')).defaultPrevented).toBe(false);
    expect(added).toHaveLength(1);
  });

  it('is ignored after disposal', () => {
    drop.dispose();
    send('lm-drop', { proposedAction: 'copy' });
    expect(added).toEqual([]);
  });
});
