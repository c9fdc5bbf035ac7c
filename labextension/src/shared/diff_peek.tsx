/**
 * A diff beside its label, while the pointer or the keyboard focus rests there. It lies over the page and
 * moves nothing in it, so that the notebook never jumps while reading.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ReactNode, RefObject } from 'react';
import { createPortal } from 'react-dom';

/** Long enough that a pointer passing by opens nothing. */
export const OPEN_MS = 300;
/** Long enough to move from the label into the diff. */
export const CLOSE_MS = 150;
const MOST_PX = { width: 760, height: 320 };
const LEAST_WIDTH_PX = 340;
const EDGE_PX = 8;
const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'Meta']);

export interface Place {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Peek {
  /** The diff's label. */
  readonly anchor: RefObject<HTMLButtonElement>;
  /** The label's position on the screen while the diff is shown, and how far its line goes. */
  readonly place: Place | null;
  readonly enter: (event: React.PointerEvent) => void;
  readonly leave: () => void;
  readonly stay: () => void;
  readonly focus: () => void;
  /** Closes it until the pointer or the focus returns. */
  readonly close: () => void;
}

/** `isOff`: there is nothing to show, or it is already shown in full. */
export function usePeek(isOff: boolean): Peek {
  const anchor = useRef<HTMLButtonElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [place, setPlace] = useState<Place | null>(null);
  const after = useCallback((ms: number, act: () => void) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(act, ms);
  }, []);
  const open = useCallback(() => after(OPEN_MS, () => setPlace(placeOf(anchor.current))), [after]);
  const close = useCallback(() => {
    clearTimeout(timer.current);
    setPlace(null);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (isOff) {
      close();
    }
  }, [isOff, close]);
  useCloseOnOthers(place !== null, close);
  return {
    anchor,
    place,
    close,
    // A button that is held down selects text, and a finger cannot hover.
    enter: event => !isOff && event.buttons === 0 && event.pointerType !== 'touch' && open(),
    leave: () => after(CLOSE_MS, () => setPlace(null)),
    stay: () => clearTimeout(timer.current),
    focus: () => !isOff && anchor.current?.matches(':focus-visible') && open()
  };
}

/** From the label to the end of its line, so that it covers its own notebook and nothing beside it. */
function placeOf(words: HTMLElement | null): Place | null {
  if (!words) {
    return null;
  }
  const { left, top, bottom, right } = words.getBoundingClientRect();
  return { left, top, bottom, right: words.parentElement?.getBoundingClientRect().right ?? right };
}

/** Typing, scrolling and clicking elsewhere mean that the user has moved on. */
function useCloseOnOthers(isShown: boolean, close: () => void): void {
  useEffect(() => {
    if (!isShown) {
      return;
    }
    const inside = (event: Event) =>
      event.target instanceof Element && event.target.closest('[data-onyx=mark-peek]') !== null;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        event.stopPropagation();
      }
      if (!MODIFIERS.has(event.key)) {
        close();
      }
    };
    const onOther = (event: Event) => !inside(event) && close();
    document.addEventListener('keydown', onKey, true);
    document.addEventListener('scroll', onOther, true);
    document.addEventListener('pointerdown', onOther, true);
    window.addEventListener('resize', close);
    return () => {
      document.removeEventListener('keydown', onKey, true);
      document.removeEventListener('scroll', onOther, true);
      document.removeEventListener('pointerdown', onOther, true);
      window.removeEventListener('resize', close);
    };
  }, [isShown, close]);
}

/** Below the label, or above it if there is more room; empty while the peek is closed. */
export function DiffPeek(props: { peek: Peek; hint: string; children: ReactNode }): JSX.Element | null {
  const { peek, hint, children } = props;
  const { place } = peek;
  if (!place) {
    return null;
  }
  return createPortal(
    <div
      className="onyx-DiffPeek"
      data-onyx="mark-peek"
      style={placed(place, window.innerWidth, window.innerHeight)}
      onPointerEnter={peek.stay}
      onPointerLeave={peek.leave}
    >
      <div className="onyx-CellMark-diff">{children}</div>
      <div className="onyx-DiffPeek-hint">{hint}</div>
    </div>,
    document.body
  );
}

/** The style that places it where it is fully visible. */
export function placed(words: Place, widthPx: number, heightPx: number): React.CSSProperties {
  const below = heightPx - words.bottom - EDGE_PX;
  const above = words.top - EDGE_PX;
  const wished = Math.max(LEAST_WIDTH_PX, Math.min(MOST_PX.width, words.right - words.left));
  const width = Math.min(wished, widthPx - 2 * EDGE_PX);
  const left = Math.max(EDGE_PX, Math.min(words.left, widthPx - EDGE_PX - width));
  const isBelow = below >= Math.min(MOST_PX.height, above);
  return {
    left,
    width,
    maxHeight: Math.min(MOST_PX.height, isBelow ? below : above),
    ...(isBelow ? { top: words.bottom } : { bottom: heightPx - words.top })
  };
}
