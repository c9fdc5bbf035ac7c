/** Draws components, each test on a page of its own, and finds what they show. */
import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach } from 'vitest';

import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';

export const trans = nullTranslator.load('onyx_jupyter');
export let host: HTMLElement;
let root: Root;

/** To be called once per file, before its own `beforeEach`. */
export function drawAnew(): void {
  beforeEach(() => {
    Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
  });
  afterEach(async () => {
    await act(async () => root.unmount());
    host.remove();
  });
}

export function render(element: JSX.Element | null, ui: Partial<Ui> = {}): Promise<void> {
  return act(async () => root.render(<UiProvider value={{ trans, ...ui } as Ui}>{element}</UiProvider>));
}

export const all = (name: string) => [...host.querySelectorAll<HTMLElement>(`[data-onyx=${name}]`)];
export const part = <E extends HTMLElement = HTMLButtonElement>(name: string) =>
  host.querySelector<E>(`[data-onyx=${name}]`);
export const click = (name: string) => act(async () => part(name)!.click());
