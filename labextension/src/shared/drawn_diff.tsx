/** A place for a diff whose drawing code is loaded with the first one. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { useEffect, useRef } from 'react';

/** Draws a diff into an element (`after` null: everything was removed), and returns what removes it. */
export type DrawDiff = (host: HTMLElement, before: string, after: string | null) => () => void;

interface DrawnDiffProps {
  before: string;
  after: string | null;
  draw: DrawDiff;
  hook: string;
  trans: TranslationBundle;
}

export function DrawnDiff({ before, after, draw, hook, trans }: DrawnDiffProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => draw(host.current!, before, after), [draw, before, after]);
  return <div ref={host} data-onyx={hook} role="region" aria-label={trans.__('What changed')} />;
}
