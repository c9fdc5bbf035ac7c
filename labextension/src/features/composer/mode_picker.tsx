/** How much Onyx may do on its own with the next message: a button that opens a short menu above it. */
import { caretDownEmptyIcon, checkIcon, lockIcon } from '@jupyterlab/ui-components';
import { useEffect, useId, useRef, useState } from 'react';

import { MODES, modeDescription, modeName, lockedModeText } from './mode';
import type { Mode } from './mode';
import { useUi } from '../../shared/ui_context';

export interface ModePickerProps {
  mode: Mode;
  /** The modes that the server allows; the others are shown as locked. */
  allowedModes: readonly Mode[];
  chooseMode: (mode: Mode) => void;
}

export function ModePicker({ mode, allowedModes, chooseMode }: ModePickerProps): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menuId = useId();
  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
  return (
    <div
      className="onyx-Mode"
      data-mode={mode}
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          setIsOpen(false);
        }
      }}
    >
      <button
        ref={button}
        type="button"
        className="onyx-Mode-button"
        data-onyx="mode-picker"
        data-mode={mode}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? menuId : undefined}
        aria-label={trans.__('Mode: %1', modeName(mode, trans))}
        title={modeDescription(mode, trans)}
        onClick={() => setIsOpen(!isOpen)}
        onKeyDown={event => {
          if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
            event.preventDefault();
            setIsOpen(true);
          }
        }}
      >
        {modeName(mode, trans)}
        <caretDownEmptyIcon.react tag="span" className="onyx-Icon" />
      </button>
      {isOpen && (
        <ModeMenu
          id={menuId}
          mode={mode}
          allowed={allowedModes}
          close={close}
          choose={chosen => {
            chooseMode(chosen);
            close();
          }}
        />
      )}
    </div>
  );
}

interface ModeMenuProps {
  id: string;
  mode: Mode;
  allowed: readonly Mode[];
  choose: (mode: Mode) => void;
  close: () => void;
}

function ModeMenu({ id, mode, allowed, choose, close }: ModeMenuProps): JSX.Element {
  const { trans } = useUi();
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    menu.current?.querySelector<HTMLElement>('[aria-checked=true]')?.focus();
  }, []);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const items = [...menu.current!.querySelectorAll<HTMLElement>('[role=menuitemradio]')];
    const at = items.findIndex(item => item === document.activeElement);
    const next = nextIndex(event.key, at, items.length);
    if (next !== null) {
      event.preventDefault();
      items[next].focus();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  return (
    <div
      ref={menu}
      id={id}
      className="onyx-Menu"
      data-onyx="mode-menu"
      role="menu"
      aria-label={trans.__('How much Onyx may do')}
      onKeyDown={onKeyDown}
    >
      {MODES.map(item => (
        <ModeItem
          key={item}
          mode={item}
          isChosen={item === mode}
          isLocked={!allowed.includes(item)}
          choose={choose}
        />
      ))}
    </div>
  );
}

interface ModeItemProps {
  mode: Mode;
  isChosen: boolean;
  isLocked: boolean;
  choose: (mode: Mode) => void;
}

/** A locked mode can be reached with the keyboard, so that it can say why. */
function ModeItem({ mode, isChosen, isLocked, choose }: ModeItemProps): JSX.Element {
  const { trans } = useUi();
  return (
    <button
      type="button"
      className="onyx-Menu-item"
      role="menuitemradio"
      aria-checked={isChosen}
      aria-disabled={isLocked || undefined}
      tabIndex={-1}
      data-onyx="mode"
      data-mode={mode}
      onClick={() => !isLocked && choose(mode)}
    >
      <span className="onyx-Icon onyx-Menu-check">
        {isChosen && <checkIcon.react tag="span" className="onyx-Icon" />}
        {isLocked && <lockIcon.react tag="span" className="onyx-Icon" />}
      </span>
      <span className="onyx-Menu-name">{modeName(mode, trans)}</span>
      <span className="onyx-Menu-meaning">
        {isLocked ? lockedModeText(trans) : modeDescription(mode, trans)}
      </span>
    </button>
  );
}

function nextIndex(key: string, at: number, count: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return (at + 1) % count;
    case 'ArrowUp':
      return (at - 1 + count) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
