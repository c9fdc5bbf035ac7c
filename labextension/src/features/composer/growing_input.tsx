/** The composer's text input: as tall as its text, up to a third of the screen. */
import { useEffect, useLayoutEffect } from 'react';
import type { RefObject } from 'react';

interface GrowingInputProps {
  node: RefObject<HTMLTextAreaElement>;
  value: string;
  placeholder: string;
  focusRequest: number;
  onChange: (text: string) => void;
  onKeyDown: (event: React.KeyboardEvent<HTMLTextAreaElement>) => void;
  onFocus: (hasFocus: boolean) => void;
  /** The caret's position; null when the input loses the focus. */
  onCaret: (caret: number | null) => void;
  /** The list that the input controls, while there is one. */
  list: { id: string; active: string | undefined } | null;
}

export function GrowingInput(props: GrowingInputProps): JSX.Element {
  const { node, value, placeholder, focusRequest, onChange, onKeyDown, onFocus, onCaret, list } = props;
  const fit = () => {
    const area = node.current!;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  };
  useLayoutEffect(fit, [value]);
  useEffect(() => {
    // Text wraps differently when the sidebar's width changes, or when it first gets one.
    let width = 0;
    const observer = new ResizeObserver(([entry]) => {
      if (entry.contentRect.width !== width) {
        width = entry.contentRect.width;
        fit();
      }
    });
    observer.observe(node.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (focusRequest > 0) {
      const area = node.current!;
      area.focus();
      area.setSelectionRange(area.value.length, area.value.length);
    }
  }, [focusRequest]);
  return (
    <textarea
      ref={node}
      className="onyx-Composer-input"
      data-onyx="input"
      aria-label={placeholder}
      aria-autocomplete="list"
      aria-haspopup="listbox"
      aria-controls={list?.id}
      aria-activedescendant={list?.active}
      rows={1}
      value={value}
      placeholder={placeholder}
      onChange={event => {
        onChange(event.target.value);
        onCaret(event.target.selectionStart);
      }}
      onSelect={event => onCaret(event.currentTarget.selectionStart)}
      onFocus={() => onFocus(true)}
      onBlur={() => {
        onFocus(false);
        onCaret(null);
      }}
      onKeyDown={onKeyDown}
    />
  );
}
