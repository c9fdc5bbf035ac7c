/** React hooks for signals and time, and Enter in forms. */
import type { ISignal } from '@lumino/signaling';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';

/** Redraws whenever one of these signals fires. */
export function useSignals(...signals: ReadonlyArray<ISignal<object, unknown>>): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const slot = () => redraw();
    signals.forEach(signal => signal.connect(slot));
    // Changes between drawing and connecting.
    redraw();
    return () => signals.forEach(signal => void signal.disconnect(slot));
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, signals);
}

/** The time in milliseconds, updated every `intervalMs` while `active`. */
export function useNow(intervalMs: number, active = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) {
      return;
    }
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs, active]);
  return now;
}

/** True for a short while after `mark` was called: "Copied". */
export function useTemporaryFlag(durationMs = 1500): [boolean, () => void] {
  const [shown, setShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const mark = useCallback(() => {
    setShown(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(false), durationMs);
  }, [durationMs]);
  return [shown, mark];
}

/**
 * Enter in a field submits its form. Forms do that by themselves, except in the output of a JupyterLab cell.
 */
export function onEnterSubmit(event: React.KeyboardEvent<HTMLInputElement>): void {
  if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }
}
