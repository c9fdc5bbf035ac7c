/** The state of the composer's `@`: whether the menu is open, its contents, and which option is active. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';

import { groups, mentionAt, withoutMention } from './mentions';
import type { MentionGroup, MentionOption, MentionSources } from './mentions';
import type { ContextItem } from '../../protocol/wire';

export interface Mentions {
  groups: readonly MentionGroup[];
  isOpen: boolean;
  /** The text after `@`. */
  query: string;
  /** Still looking for variables or files. */
  isSearching: boolean;
  active: MentionOption | null;
  setActive: (option: MentionOption) => void;
  choose: (option: MentionOption) => void;
  /** True if the menu handled the key. */
  onKey: (event: React.KeyboardEvent) => boolean;
  onCaret: (caret: number | null) => void;
  /** Starts a mention at the caret. */
  begin: () => void;
}

interface MentionsOf {
  text: string;
  setText: (text: string) => void;
  input: RefObject<HTMLTextAreaElement>;
  sources: MentionSources;
  add: (item: ContextItem) => void;
}

export function useMentions({ text, setText, input, sources, add }: MentionsOf): Mentions {
  const [caret, setCaret] = useState<number | null>(null);
  const [left, setLeft] = useState<number | null>(null);
  const [wanted, setWanted] = useState<MentionOption | null>(null);
  const nextCaret = useRef<number | null>(null);
  const mention = caret === null ? null : mentionAt(text, caret);
  const isActive = mention !== null && mention.start !== left;
  const query = mention?.query ?? '';
  const { options, isSearching } = useOptions(sources, isActive, query);
  const found = useMemo(() => (isActive ? groups(options, query) : []), [isActive, options, query]);
  const flat = found.flatMap(group => group.options);
  // With a blank in it and no match, it is a sentence and not a mention.
  const isOpen = isActive && (flat.length > 0 || !/\s/.test(query));
  const active = flat.find(option => isSame(option, wanted)) ?? flat[0] ?? null;

  useEffect(() => {
    if (mention === null) {
      setLeft(null);
    }
  }, [mention === null]);
  useLayoutEffect(() => {
    if (nextCaret.current !== null) {
      input.current?.focus();
      input.current?.setSelectionRange(nextCaret.current, nextCaret.current);
      setCaret(nextCaret.current);
      nextCaret.current = null;
    }
  });
  const rewrite = (changed: string, at: number) => {
    nextCaret.current = at;
    setText(changed);
  };
  const choose = (option: MentionOption) => {
    if (!mention) {
      return;
    }
    if (option.item) {
      add(option.item);
      const rest = withoutMention(text, mention);
      rewrite(rest.text, rest.caret);
    } else if (option.completion) {
      const start = `${text.slice(0, mention.start)}@${option.completion}`;
      rewrite(start + text.slice(mention.end), start.length);
    }
    setWanted(null);
  };
  const onKey = (event: React.KeyboardEvent): boolean => {
    if (!isOpen || event.nativeEvent.isComposing) {
      return false;
    }
    const at = active ? flat.indexOf(active) : -1;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        const step = event.key === 'ArrowDown' ? 1 : -1;
        setWanted(flat[(at + step + flat.length) % flat.length] ?? null);
        return true;
      }
      case 'Enter':
      case 'Tab':
        if (!active || event.shiftKey || event.altKey) {
          return false;
        }
        choose(active);
        return true;
      case 'Escape':
        setLeft(mention?.start ?? null);
        return true;
      default:
        return false;
    }
  };
  const begin = useCallback(() => {
    const area = input.current;
    if (area) {
      const at = document.activeElement === area ? area.selectionStart : area.value.length;
      const before = area.value.slice(0, at);
      const sign = before === '' || /\s$/.test(before) ? '@' : ' @';
      setLeft(null);
      nextCaret.current = at + sign.length;
      setText(before + sign + area.value.slice(at));
    }
  }, [setText]);
  return {
    groups: found,
    isOpen,
    query,
    isSearching,
    active,
    setActive: setWanted,
    choose,
    onKey,
    onCaret: setCaret,
    begin
  };
}

function useOptions(
  sources: MentionSources,
  isActive: boolean,
  query: string
): { options: readonly MentionOption[]; isSearching: boolean } {
  const folder = query.slice(0, query.lastIndexOf('/') + 1);
  const now = useMemo(() => (isActive ? sources.now() : []), [isActive, sources]);
  const variables = useLoaded(() => sources.variables(), isActive, [sources]);
  const files = useLoaded(() => sources.files(folder), isActive, [sources, folder]);
  const options = useMemo(() => [...now, ...(variables ?? []), ...(files ?? [])], [now, variables, files]);
  return { options, isSearching: isActive && (variables === null || files === null) };
}

/** The result of a request made while it is wanted: null until then, empty if it fails. */
function useLoaded(
  ask: () => Promise<MentionOption[]>,
  isWanted: boolean,
  of: readonly unknown[]
): readonly MentionOption[] | null {
  const [found, setFound] = useState<readonly MentionOption[] | null>(null);
  useEffect(() => {
    if (!isWanted) {
      setFound(null);
      return;
    }
    let isCurrent = true;
    void ask()
      .catch(() => [])
      .then(options => isCurrent && setFound(options));
    return () => {
      isCurrent = false;
    };
  }, [isWanted, ...of]);
  return found;
}

function isSame(option: MentionOption, other: MentionOption | null): boolean {
  return (
    other !== null &&
    option.section === other.section &&
    option.name === other.name &&
    option.detail === other.detail
  );
}
