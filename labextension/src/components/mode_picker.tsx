/** How much Onyx may do on its own with the next message: a button that opens a short menu above itself. */
import { caretDownEmptyIcon, checkIcon } from '@jupyterlab/ui-components';
import { useEffect, useId, useRef, useState } from 'react';

import { MODES, modeMeaning, modeName } from '../models/mode';
import type { Mode } from '../models/mode';
import { useUi } from './ui_context';

export interface ModePickerProps {
  mode: Mode;
  chooseMode: (mode: Mode) => void;
}

export function ModePicker({ mode, chooseMode }: ModePickerProps): JSX.Element {
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
        title={modeMeaning(mode, trans)}
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
  choose: (mode: Mode) => void;
  close: () => void;
}

function ModeMenu({ id, mode, choose, close }: ModeMenuProps): JSX.Element {
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
        <button
          key={item}
          type="button"
          className="onyx-Menu-item"
          role="menuitemradio"
          aria-checked={item === mode}
          tabIndex={-1}
          data-onyx="mode"
          data-mode={item}
          onClick={() => choose(item)}
        >
          <span className="onyx-Icon onyx-Menu-check">
            {item === mode && <checkIcon.react tag="span" className="onyx-Icon" />}
          </span>
          <span className="onyx-Menu-name">{modeName(item, trans)}</span>
          <span className="onyx-Menu-meaning">{modeMeaning(item, trans)}</span>
        </button>
      ))}
    </div>
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
