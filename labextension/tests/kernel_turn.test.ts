import type { NotebookPanel } from '@jupyterlab/notebook';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { describe, expect, it } from 'vitest';

import { isKernelFree, kernelFree } from '../src/features/notebooks/kernel_turn';
import { settle } from './peer';

/** A notebook with one cell in the kernel's queue for each of `sources`. */
class Lab {
  constructor(
    public status: string,
    cells = 0
  ) {
    this.futures = Array.from({ length: cells }, () => new PromiseDelegate<void>());
    this.sessionContext = {
      session: { kernel: this },
      statusChanged: new Signal<object, string>(this),
      kernelChanged: new Signal<object, object>(this)
    };
    const widgets = this.futures.map(({ promise }) => ({
      model: { type: 'code' },
      outputArea: { future: { done: promise, isDisposed: false } }
    }));
    const text = { model: { type: 'markdown' } };
    const notRun = { model: { type: 'code' }, outputArea: { future: null } };
    this.panel = {
      isDisposed: false,
      disposed: new Signal<object, void>(this),
      content: { widgets: [text, notRun, ...widgets] },
      sessionContext: this.sessionContext
    };
  }

  become(status: string): void {
    this.status = status;
    this.sessionContext.statusChanged.emit(status);
  }

  async wait(): Promise<string> {
    this.ended = 'waits';
    return kernelFree(this.notebook).then(
      () => (this.ended = 'free'),
      error => (this.ended = error.code)
    );
  }

  get notebook(): NotebookPanel {
    return this.panel as unknown as NotebookPanel;
  }

  ended = '';
  readonly futures: PromiseDelegate<void>[];
  readonly panel;
  readonly sessionContext;
}

describe('kernelFree', () => {
  it('waits while the kernel is busy with something outside this notebook', async () => {
    const lab = new Lab('busy');
    void lab.wait();
    await settle();
    expect(lab.ended).toBe('waits');
    expect(await isKernelFree(lab.notebook)).toBe(false);
    lab.become('idle');
    await settle();
    expect(lab.ended).toBe('free');
    expect(await isKernelFree(lab.notebook)).toBe(true);
  });

  it('does not take a gap between two queued cells for its turn', async () => {
    const lab = new Lab('busy', 2);
    void lab.wait();
    await settle();
    lab.futures[0].resolve();
    lab.become('idle');
    await settle();
    expect(lab.ended).toBe('waits');
    lab.become('busy');
    lab.become('idle');
    await settle();
    expect(lab.ended).toBe('waits');
    lab.futures[1].reject(new Error('interrupted'));
    await settle();
    expect(lab.ended).toBe('free');
  });

  it('waits for a starting kernel, but not for a dead one', async () => {
    const lab = new Lab('unknown');
    void lab.wait();
    await settle();
    expect(lab.ended).toBe('waits');
    lab.become('starting');
    lab.become('dead');
    await settle();
    expect(lab.ended).toBe('no_kernel');
  });

  it('ends when the notebook is closed', async () => {
    const lab = new Lab('busy');
    void lab.wait();
    await settle();
    lab.panel.isDisposed = true;
    lab.panel.disposed.emit();
    await settle();
    expect(lab.ended).toBe('not_open');
  });
});
