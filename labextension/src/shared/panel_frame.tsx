/**
 * The frame of every panel in the main area: title, a one-line description, actions at the right, list and
 * detail.
 */
import { useEffect, useRef } from 'react';
import type { ReactNode, RefObject } from 'react';

interface PanelFrameProps {
  title: string;
  about: string;
  hook: string;
  actions: ReactNode;
  /** Above both parts: what is wrong with all of it. */
  notice?: ReactNode;
  list: ReactNode;
  detail: ReactNode;
  /** A narrow panel has room for one: the detail while something is chosen. */
  showsDetail: boolean;
}

export function PanelFrame(props: PanelFrameProps): JSX.Element {
  const { title, about, hook, actions, notice, list, detail, showsDetail } = props;
  const frame = useKeptFocus(showsDetail);
  return (
    <div
      ref={frame}
      className="onyx-Panel-frame"
      data-onyx={hook}
      data-shows={showsDetail ? 'detail' : 'list'}
    >
      <header className="onyx-Panel-head">
        <div className="onyx-Panel-words">
          <h2>{title}</h2>
          <p>{about}</p>
        </div>
        <div className="onyx-Panel-actions">{actions}</div>
      </header>
      {notice}
      <div className="onyx-Panel-body">
        <nav className="onyx-Panel-list">{list}</nav>
        <section className="onyx-Panel-detail">{detail}</section>
      </div>
    </div>
  );
}

/**
 * In a narrow panel one part replaces the other: the focus moves along instead of staying in the hidden part.
 */
function useKeptFocus(showsDetail: boolean): RefObject<HTMLDivElement> {
  const frame = useRef<HTMLDivElement>(null);
  const before = useRef(showsDetail);
  useEffect(() => {
    const { activeElement } = document;
    if (before.current === showsDetail || !frame.current) {
      return;
    }
    before.current = showsDetail;
    const isLost = activeElement === document.body || frame.current.contains(activeElement);
    if (isLost && !isSeen(activeElement)) {
      const place = frame.current.querySelector(showsDetail ? '.onyx-Detail-back' : '.onyx-Panel-list input');
      if (isSeen(place)) {
        place.focus();
      }
    }
  }, [showsDetail]);
  return frame;
}

function isSeen(element: Element | null): element is HTMLElement {
  return element instanceof HTMLElement && element.offsetParent !== null;
}
