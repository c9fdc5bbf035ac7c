/** All sessions, newest first, narrowed by a search; it lies over the conversation until one is chosen. */
import { useEffect, useRef, useState } from 'react';

import { ago } from '../models/ago';
import type { SessionInfo } from '../protocol/wire';
import { useUi } from './ui_context';

const SEARCH_PAUSE_MS = 200;

interface SessionListViewProps {
  sessions: readonly SessionInfo[];
  total: number;
  isLoading: boolean;
  problem: string | null;
  current: string | null;
  search: (query: string) => void;
  open: (sessionKey: string) => void;
  close: () => void;
}

export function SessionListView(props: SessionListViewProps): JSX.Element {
  const { sessions, total, isLoading, problem, current, search, open, close } = props;
  const { trans } = useUi();
  const [query, setQuery] = useState('');
  const first = useRef(true);
  useEffect(() => {
    const timer = setTimeout(() => search(query), first.current ? 0 : SEARCH_PAUSE_MS);
    first.current = false;
    return () => clearTimeout(timer);
  }, [query, search]);
  return (
    <div
      className="onyx-Sessions"
      data-onyx="session-list"
      role="dialog"
      aria-label={trans.__('Sessions')}
      onKeyDown={event => event.key === 'Escape' && close()}
    >
      <input
        autoFocus
        type="search"
        className="onyx-Input"
        data-onyx="session-search"
        value={query}
        placeholder={trans.__('Search sessions')}
        aria-label={trans.__('Search sessions')}
        onChange={event => setQuery(event.target.value)}
      />
      <ul className="onyx-Sessions-items">
        {sessions.map(session => (
          <SessionRow
            key={session.sessionKey}
            session={session}
            isCurrent={session.sessionKey === current}
            open={open}
          />
        ))}
      </ul>
      <div className="onyx-Note" role="status">
        {problem ??
          (sessions.length === 0 && !isLoading
            ? query
              ? trans.__('Nothing found')
              : trans.__('No sessions yet')
            : total > sessions.length
              ? trans.__('%1 more: search to find them', total - sessions.length)
              : '')}
      </div>
    </div>
  );
}

interface SessionRowProps {
  session: SessionInfo;
  isCurrent: boolean;
  open: (sessionKey: string) => void;
}

function SessionRow({ session, isCurrent, open }: SessionRowProps): JSX.Element {
  const { trans } = useUi();
  const activity =
    session.activity === 'waiting'
      ? trans.__('waits for you')
      : session.activity === 'running'
        ? trans.__('working')
        : ago(session.updatedAt);
  return (
    <li>
      <button
        type="button"
        className="onyx-Session"
        data-onyx="session"
        data-session-key={session.sessionKey}
        data-activity={session.activity}
        aria-current={isCurrent}
        onClick={() => open(session.sessionKey)}
      >
        <span className="onyx-Session-title">{session.title || trans.__('Untitled')}</span>
        <span className="onyx-Session-time">{activity}</span>
        <span className="onyx-Session-preview">{session.lastMessagePreview}</span>
      </button>
    </li>
  );
}
