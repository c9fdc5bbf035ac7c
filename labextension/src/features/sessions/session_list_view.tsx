/** All sessions, newest first, filtered by a search; covers the conversation until one is chosen. */
import { useEffect, useRef, useState } from 'react';

import { formatRelative } from '../../shared/relative_time';
import { matchParts } from '../../shared/match_parts';
import type { SessionInfo } from '../../protocol/wire';
import type { SessionList } from './session_list';
import { useUi } from '../../shared/ui_context';
import { useOpenFirst } from '../../shared/use_opens_first';

const SEARCH_PAUSE_MS = 200;

interface SessionListViewProps {
  list: SessionList;
  current: string | null;
  search: (query: string) => void;
  open: (session: SessionInfo) => void;
  close: () => void;
}

export function SessionListView(props: SessionListViewProps): JSX.Element {
  const { list, current, search, open, close } = props;
  const { sessions, query: searched, failed } = list;
  const { trans } = useUi();
  const [query, setQuery] = useState('');
  const first = useRef(true);
  useEffect(() => {
    const timer = setTimeout(() => search(query), first.current ? 0 : SEARCH_PAUSE_MS);
    first.current = false;
    return () => clearTimeout(timer);
  }, [query, search]);
  const openFirst = useOpenFirst({ query, searched, failed, results: sessions, open });
  const rowList = useRef<HTMLUListElement>(null);
  const move = (event: React.KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const rows = Array.from(rowList.current?.querySelectorAll('button') ?? []);
    const at = rows.indexOf(document.activeElement as HTMLButtonElement);
    if (step !== 0 && rows[at + step]) {
      event.preventDefault();
      rows[at + step].focus();
    }
  };
  return (
    <div
      className="onyx-Sessions"
      data-onyx="session-list"
      role="dialog"
      aria-label={trans.__('Sessions')}
      onKeyDown={event => {
        if (event.nativeEvent.isComposing) {
          return; // Escape ends the composition, and arrows choose within it
        }
        return event.key === 'Escape' ? close() : move(event);
      }}
    >
      <input
        autoFocus
        type="search"
        className="onyx-Input"
        data-onyx="session-search"
        value={query}
        placeholder={trans.__('Search sessions')}
        aria-label={trans.__('Search sessions')}
        onChange={event => {
          setQuery(event.target.value);
          openFirst.cancel();
        }}
        onBlur={openFirst.cancel}
        onKeyDown={openFirst.onKey}
      />
      <ul className="onyx-Sessions-items" ref={rowList}>
        {sessions.map(session => (
          <SessionRow
            key={session.sessionKey}
            session={session}
            isCurrent={session.sessionKey === current}
            query={searched ?? ''}
            open={open}
          />
        ))}
      </ul>
      <Standing list={list} query={query} search={search} />
    </div>
  );
}

/** The state of the list: no results, more results, how it was searched. */
function Standing(props: Pick<SessionListViewProps, 'list' | 'search'> & { query: string }): JSX.Element {
  const { list, search, query } = props;
  const { sessions, total, isLoading, note, isWhole, problem } = list;
  const { trans } = useUi();
  const isEmpty = sessions.length === 0 && !isLoading;
  const nothing = isWhole ? trans.__('Nothing found.') : trans.__('Nothing found so far.');
  return (
    <div className="onyx-Note onyx-Sessions-note" role="status" data-onyx="session-note">
      {problem ?? (
        <>
          {isEmpty && <span>{query ? nothing : trans.__('No sessions yet')}</span>}
          {total > sessions.length && (
            <span>{trans.__('%1 more: search to find them', total - sessions.length)}</span>
          )}
          {note && <span>{note}</span>}
          {!isWhole && !isLoading && (
            <button
              type="button"
              className="onyx-Link"
              data-onyx="session-search-again"
              onClick={() => search(query)}
            >
              {trans.__('Search again')}
            </button>
          )}
        </>
      )}
    </div>
  );
}

interface SessionRowProps {
  session: SessionInfo;
  isCurrent: boolean;
  query: string;
  open: (session: SessionInfo) => void;
}

function SessionRow({ session, isCurrent, query, open }: SessionRowProps): JSX.Element {
  const { trans } = useUi();
  const activity =
    session.activity === 'waiting'
      ? trans.__('waits for you')
      : session.activity === 'running'
        ? trans.__('working')
        : formatRelative(session.updatedAt);
  return (
    <li>
      <button
        type="button"
        className="onyx-Session"
        data-onyx="session"
        data-session-key={session.sessionKey}
        data-activity={session.activity}
        aria-current={isCurrent}
        onClick={() => open(session)}
      >
        <span className="onyx-Session-title">{session.title || trans.__('Untitled')}</span>
        <span className="onyx-Session-time">{activity}</span>
        {session.match ? (
          <span className="onyx-Session-match" data-onyx="session-match">
            <span className="onyx-Session-who">
              {session.match.role === 'user' ? trans.__('You:') : trans.__('Onyx:')}
            </span>{' '}
            {matchParts(session.match.snippet, query).map((part, index) =>
              part.isHit ? <mark key={index}>{part.text}</mark> : part.text
            )}
          </span>
        ) : (
          <span className="onyx-Session-preview">{session.lastMessagePreview}</span>
        )}
      </button>
    </li>
  );
}
