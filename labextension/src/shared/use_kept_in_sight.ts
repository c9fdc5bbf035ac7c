/** Keeps the requested part in the middle of the view while more is still being drawn around it. */
import { useEffect, useRef } from 'react';

const SETTLE_MS = 1500;

/** For the surrounding element, until the user scrolls; `asked` is a new value with every request. */
export function useKeptVisible<T extends HTMLElement>(asked: unknown): React.RefObject<T> {
  const root = useRef<T>(null);
  useEffect(() => {
    const node = root.current;
    if (!node || !asked) {
      return;
    }
    const show = () => node.querySelector('[data-marked]')?.scrollIntoView({ block: 'center' });
    const observer = new ResizeObserver(show);
    const stop = () => observer.disconnect();
    const timer = setTimeout(stop, SETTLE_MS);
    observer.observe(node);
    show();
    const signs = ['wheel', 'keydown', 'pointerdown'] as const;
    signs.forEach(sign => window.addEventListener(sign, stop, { passive: true }));
    return () => {
      clearTimeout(timer);
      stop();
      signs.forEach(sign => window.removeEventListener(sign, stop));
    };
  }, [asked]);
  return root;
}
