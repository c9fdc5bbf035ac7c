/**
 * What is sent along with the message: one chip each, with the exact text and its token count to inspect
 * first.
 */
import { addIcon, closeIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef, useState } from 'react';

import { itemKey, itemName, itemPlace, formatTokens } from './context_items';
import type { ContextOf } from './context_items';
import type { ContextItem, SentItem } from '../../protocol/wire';
import { IconButton } from '../../shared/icon_button';
import { SentText } from './sent_context';
import { useUi } from '../../shared/ui_context';

const HINT_CHARS = 500;
/** A cell may have changed since it was last read. */
const STALE_MS = 5000;

interface Chip {
  item: ContextItem;
  remove: () => void;
}

export interface ContextChipsProps {
  chips: readonly Chip[];
  /** The notebook in front, if it is not attached yet. */
  offered: { item: ContextItem; add: () => void } | null;
  /** What would be sent for an item now; null if that is unknown. */
  look: (item: ContextItem) => Promise<SentItem | null>;
  /** Opens the menu of what can be added. */
  addMore: () => void;
}

export function ContextChipRow({ chips, offered, look, addMore }: ContextChipsProps): JSX.Element {
  const { trans } = useUi();
  const [open, setOpen] = useState<string | null>(null);
  const shown = chips.find(chip => itemKey(chip.item) === open);
  return (
    <div className="onyx-Context">
      {shown && <Preview key={open} item={shown.item} look={look} />}
      <div className="onyx-Chips" aria-label={trans.__('Attached to your message')} role="group">
        {chips.map(chip => {
          const key = itemKey(chip.item);
          return (
            <ChipView
              key={key}
              chip={chip}
              look={look}
              isOpen={open === key}
              toggle={() => setOpen(open === key ? null : key)}
            />
          );
        })}
        {offered && (
          <button
            type="button"
            className="onyx-Chip onyx-mod-offer"
            data-onyx="offer-chip"
            title={trans.__('Attach %1', offered.item.path)}
            onClick={offered.add}
          >
            <addIcon.react tag="span" className="onyx-Icon" />
            <span className="onyx-Chip-name">{itemName(offered.item, trans)}</span>
          </button>
        )}
        <button
          type="button"
          className="onyx-Chip onyx-mod-add"
          data-onyx="add-context"
          title={trans.__('Attach context (@): a cell, a variable, a file …')}
          aria-label={trans.__('Attach context')}
          aria-haspopup="listbox"
          onMouseDown={event => event.preventDefault()}
          onClick={addMore}
        >
          @
        </button>
      </div>
    </div>
  );
}

interface ChipViewProps {
  chip: Chip;
  look: ContextChipsProps['look'];
  isOpen: boolean;
  toggle: () => void;
}

function ChipView({ chip: { item, remove }, look, isOpen, toggle }: ChipViewProps): JSX.Element {
  const { trans } = useUi();
  const [again, setAgain] = useState(0);
  const lookedAt = useRef(0);
  const seen = useSeenItem(item, look, again);
  const lookAgain = () => {
    if (Date.now() - lookedAt.current > STALE_MS) {
      lookedAt.current = Date.now();
      setAgain(again + 1);
    }
  };
  const name = itemName(item, trans);
  return (
    <span
      className={seen?.problem ? 'onyx-Chip onyx-mod-problem' : 'onyx-Chip'}
      data-onyx="chip"
      data-type={item.type}
      onMouseEnter={lookAgain}
    >
      <button
        type="button"
        className="onyx-Chip-name"
        data-onyx="chip-name"
        title={hint(item, seen, trans)}
        aria-expanded={isOpen}
        onFocus={lookAgain}
        onClick={toggle}
      >
        {name}
      </button>
      <IconButton
        icon={closeIcon}
        label={trans.__('Leave out %1', name)}
        hook="chip-remove"
        onClick={remove}
      />
    </span>
  );
}

function Preview({ item, look }: { item: ContextItem; look: ContextChipsProps['look'] }): JSX.Element {
  const { trans } = useUi();
  const seen = useSeenItem(item, look, 0);
  return (
    <div className="onyx-Context-preview" data-onyx="chip-preview">
      {seen ? <SentText item={seen} /> : <div className="onyx-Note">{trans.__('Looking…')}</div>}
    </div>
  );
}

/** What would be sent; read again with each `again`, since a cell may have changed. */
function useSeenItem(item: ContextItem, look: ContextChipsProps['look'], again: number): SentItem | null {
  const [seen, setSeen] = useState<SentItem | null>(null);
  const key = itemKey(item);
  useEffect(() => {
    let isCurrent = true;
    void look(item).then(found => isCurrent && setSeen(found));
    return () => {
      isCurrent = false;
    };
  }, [key, look, again]);
  return seen;
}

function hint(item: ContextItem, seen: ContextOf | null, trans: ReturnType<typeof useUi>['trans']): string {
  const place = itemPlace(item, trans);
  if (!seen) {
    return place;
  }
  const text = seen.problem ?? seen.text ?? '';
  const beginning = text.length > HINT_CHARS ? `${text.slice(0, HINT_CHARS)}…` : text;
  return [`${place} · ${formatTokens(seen.tokens ?? 0, trans)}`, beginning].filter(Boolean).join('\n\n');
}
