/** The current session's title, which opens the list, and the actions on sessions. */
import { addIcon, caretDownIcon, ellipsesIcon } from '@jupyterlab/ui-components';

import type { ChatModel } from './chat_model';
import type { Session } from './session';
import type { ViewState } from './view_state';
import { useSignals } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { useUi } from '../../shared/ui_context';

interface HeaderProps {
  chat: ChatModel;
  session: Session;
  view: ViewState;
  openMenu: (x: number, y: number) => void;
}

export function Header({ chat, session, view, openMenu }: HeaderProps): JSX.Element {
  const { trans } = useUi();
  useSignals(session.changed);
  const newSession = () => {
    chat.openSession(null);
    view.focusInput();
  };
  return (
    <header className="onyx-Header">
      <button
        type="button"
        className="onyx-Header-title"
        data-onyx="session-title"
        aria-expanded={view.panel === 'sessions'}
        aria-haspopup="dialog"
        title={trans.__('All sessions')}
        onClick={() => view.toggle('sessions')}
      >
        <span>{session.info?.title || (session.key ? trans.__('Session') : trans.__('New session'))}</span>
        <caretDownIcon.react tag="span" className="onyx-Icon" />
      </button>
      <IconButton icon={addIcon} label={trans.__('New session')} hook="new-session" onClick={newSession} />
      <IconButton
        icon={ellipsesIcon}
        label={trans.__('More')}
        hook="menu"
        onClick={event => {
          const box = event.currentTarget.getBoundingClientRect();
          openMenu(box.left, box.bottom);
        }}
      />
    </header>
  );
}
