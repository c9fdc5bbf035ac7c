import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CellMarkView } from '../src/features/review/cell_mark_view';
import type { CellMarkViewProps } from '../src/features/review/cell_mark_view';
import { CLOSE_MS, OPEN_MS, placed } from '../src/shared/diff_peek';
import type { ShownMark } from '../src/features/review/shown_marks';

// JupyterLab's components do not load outside of a browser; of them only icons are used here.
vi.mock('@jupyterlab/ui-components', () => {
  const icon = { react: () => null };
  return { caretRightIcon: icon, checkIcon: icon, undoIcon: icon };
});

const EDITED = {
  mark: { cellId: 'c2', kinds: ['edited'], before: { source: 'a = 1', cellType: 'code' } },
  kind: 'edited',
  lines: 1,
  isMoved: false,
  isYours: false,
  under: null
} as unknown as ShownMark;

let root: Root;
let host: HTMLElement;
let isOpen: boolean;
let shown: ShownMark;
const draw = vi.fn();
const remove = vi.fn();

function render(): void {
  const props: CellMarkViewProps = {
    shown,
    source: 'a = 10',
    from: '',
    isOpen,
    isBusy: false,
    trans: nullTranslator.load('onyx_jupyter'),
    drawDiff: draw,
    toggle: () => {
      isOpen = !isOpen;
      render();
    },
    keep: vi.fn(),
    revert: vi.fn()
  };
  act(() => root.render(<CellMarkView {...props} />));
}

const words = () => host.querySelector<HTMLButtonElement>('.onyx-CellMark-words')!;
const peek = () => document.querySelector<HTMLElement>('[data-onyx=mark-peek]');
const inPlace = () => host.querySelector('[data-onyx=mark-diff]');
const wait = (ms: number) => act(() => vi.advanceTimersByTime(ms));

/** jsdom knows no PointerEvent; React reads the same fields of any event of that name. */
function pointer(
  what: 'over' | 'out',
  on: Element,
  { pointerType = 'mouse', buttons = 0 }: { pointerType?: string; buttons?: number } = {}
): void {
  const init = { bubbles: true, relatedTarget: document.body, buttons };
  const event = Object.assign(new MouseEvent(`pointer${what}`, init), { pointerType });
  act(() => void on.dispatchEvent(event));
}

function press(key: string): void {
  act(() => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  });
}

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  vi.useFakeTimers();
  draw.mockReset().mockReturnValue(remove);
  remove.mockReset();
  [isOpen, shown] = [false, EDITED];
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
  render();
});

afterEach(() => {
  act(() => root.unmount());
  host.remove();
  vi.useRealTimers();
});

describe('the diff on hover', () => {
  it('opens when the pointer rests on the label, not when it passes over', () => {
    pointer('over', words());
    wait(OPEN_MS - 1);
    pointer('out', words());
    wait(1000);
    expect(draw).not.toHaveBeenCalled();
    pointer('over', words());
    wait(OPEN_MS);
    expect(draw).toHaveBeenCalledWith(expect.any(HTMLElement), 'a = 1', 'a = 10');
    expect(peek()!.parentElement).toBe(document.body);
    expect(words().getAttribute('aria-expanded')).toBe('false');
  });

  it('stays while the pointer is inside, closes soon after, and is rendered once', () => {
    pointer('over', words());
    wait(OPEN_MS);
    pointer('out', words());
    wait(CLOSE_MS - 1);
    pointer('over', peek()!);
    render();
    wait(1000);
    expect(draw).toHaveBeenCalledTimes(1);
    pointer('out', peek()!);
    wait(CLOSE_MS);
    expect(peek()).toBeNull();
    expect(remove).toHaveBeenCalledTimes(1);
  });

  it('opens on keyboard focus, and closes on blur', () => {
    vi.spyOn(words(), 'matches').mockImplementation(selector => selector === ':focus-visible');
    act(() => words().focus());
    wait(OPEN_MS);
    expect(peek()).not.toBeNull();
    act(() => words().blur());
    expect(peek()).toBeNull();
  });

  it('does not open on focus by click', () => {
    vi.spyOn(words(), 'matches').mockReturnValue(false);
    act(() => words().focus());
    wait(1000);
    expect(peek()).toBeNull();
  });

  it.each(['Escape', 'x'])('closes on %s, and Escape does nothing else', key => {
    const heard = vi.fn();
    document.body.addEventListener('keydown', heard);
    pointer('over', words());
    wait(OPEN_MS);
    press('Shift');
    expect(peek()).not.toBeNull();
    heard.mockClear();
    press(key);
    expect(peek()).toBeNull();
    expect(heard).toHaveBeenCalledTimes(key === 'Escape' ? 0 : 1);
    document.body.removeEventListener('keydown', heard);
  });

  it('closes when the notebook is scrolled, not when the diff is', () => {
    pointer('over', words());
    wait(OPEN_MS);
    act(() => void peek()!.firstElementChild!.dispatchEvent(new Event('scroll')));
    expect(peek()).not.toBeNull();
    act(() => void host.dispatchEvent(new Event('scroll')));
    expect(peek()).toBeNull();
  });

  it('yields to the one opened by click, and does not return when that is closed', () => {
    pointer('over', words());
    wait(OPEN_MS);
    act(() => words().click());
    expect(peek()).toBeNull();
    expect(inPlace()).not.toBeNull();
    pointer('over', words());
    wait(1000);
    expect(peek()).toBeNull();
    act(() => words().click());
    wait(1000);
    expect([peek(), inPlace()]).toEqual([null, null]);
  });

  it.each([{ buttons: 1 }, { pointerType: 'touch' }])('does not open on %o', init => {
    pointer('over', words(), init);
    wait(1000);
    expect(peek()).toBeNull();
  });

  it('does not exist for a cell without a diff', () => {
    shown = { ...EDITED, kind: 'moved', isMoved: true };
    render();
    pointer('over', words());
    wait(1000);
    expect(draw).not.toHaveBeenCalled();
  });

  it('leaves nothing behind when the mark is removed', () => {
    pointer('over', words());
    wait(OPEN_MS);
    act(() => root.render(null));
    expect(peek()).toBeNull();
    expect(remove).toHaveBeenCalledTimes(1);
  });
});

describe('the position of the diff', () => {
  const line = (left: number, top: number, right: number) => ({ left, top, bottom: top + 24, right });

  it('is below the label at line width, or above if there is more room', () => {
    expect(placed(line(100, 50, 700), 1280, 800)).toEqual({ left: 100, width: 600, maxHeight: 320, top: 74 });
    expect(placed(line(100, 50, 1270), 1280, 800)).toMatchObject({ left: 100, width: 760 });
    expect(placed(line(100, 700, 700), 1280, 800)).toMatchObject({ maxHeight: 320, bottom: 100 });
  });

  it('is wide enough to read, and never beyond the window', () => {
    expect(placed(line(1000, 50, 1200), 1280, 800)).toMatchObject({ left: 932, width: 340 });
    expect(placed(line(60, 90, 290), 300, 200)).toEqual({ left: 8, width: 284, maxHeight: 82, bottom: 110 });
  });
});
