/** The conversations that mention what a memory search looks for but that were not noted. */
import { formatRelative } from '../../shared/relative_time';
import { matchParts } from '../../shared/match_parts';
import type { SessionInfo } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';

interface MemoryConversationsProps {
  conversations: readonly SessionInfo[];
  query: string;
  open: (session: SessionInfo) => void;
}

export function MemoryConversations(props: MemoryConversationsProps): JSX.Element | null {
  const { conversations, query, open } = props;
  const { trans } = useUi();
  if (conversations.length === 0) {
    return null;
  }
  return (
    <section aria-label={trans.__('Conversations')}>
      <h3>{trans.__('Conversations')}</h3>
      {conversations.map(session => (
        <button
          key={session.sessionKey}
          title={session.title}
          type="button"
          className="onyx-Row onyx-Result"
          data-onyx="memory-conversation"
          onClick={() => open(session)}
        >
          <span className="onyx-Row-name">{session.title || trans.__('Untitled')}</span>
          <span className="onyx-Row-state">{formatRelative(session.updatedAt)}</span>
          <span className="onyx-Result-text">
            {session.match && `${session.match.role === 'user' ? trans.__('You:') : trans.__('Onyx:')} `}
            {matchParts(session.match?.snippet ?? session.lastMessagePreview, query).map((part, index) =>
              part.isHit ? <mark key={index}>{part.text}</mark> : part.text
            )}
          </span>
        </button>
      ))}
    </section>
  );
}
