/** The current session's title, which opens the list, and the actions on sessions. */
import { addIcon, caretDownIcon, ellipsesIcon } from '@jupyterlab/ui-components';

import { IconButton } from '../../shared/icon_button';
import { useUi } from '../../shared/ui_context';

interface HeaderProps {
  title: string;
  isListOpen: boolean;
  toggleList: () => void;
  newSession: () => void;
  openMenu: (x: number, y: number) => void;
}

export function Header({ title, isListOpen, toggleList, newSession, openMenu }: HeaderProps): JSX.Element {
  const { trans } = useUi();
  return (
    <header className="onyx-Header">
      <button
        type="button"
        className="onyx-Header-title"
        data-onyx="session-title"
        aria-expanded={isListOpen}
        aria-haspopup="dialog"
        title={trans.__('All sessions')}
        onClick={toggleList}
      >
        <span>{title}</span>
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
