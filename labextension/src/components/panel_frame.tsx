/** The frame of every panel in the main area: title, one line of what it is, actions at the right, list and detail. */
import type { ReactNode } from 'react';

interface PanelFrameProps {
  title: string;
  about: string;
  hook: string;
  actions: ReactNode;
  /** Above both parts: what is wrong with all of it. */
  notice?: ReactNode;
  list: ReactNode;
  detail: ReactNode;
  /** In a narrow panel there is room for one: the detail while something is chosen. */
  showsDetail: boolean;
}

export function PanelFrame(props: PanelFrameProps): JSX.Element {
  const { title, about, hook, actions, notice, list, detail, showsDetail } = props;
  return (
    <div className="onyx-Panel-frame" data-onyx={hook} data-shows={showsDetail ? 'detail' : 'list'}>
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
