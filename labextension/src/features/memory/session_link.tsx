/** A link from what is remembered to the conversation that it comes from. */
import { useUi } from '../../shared/ui_context';

export interface SessionLinkActions {
  titleOf: (sessionKey: string) => string | null;
  /** null if this page has no chat. */
  openSession: ((sessionKey: string) => void) | null;
}

interface SessionLinkProps extends SessionLinkActions {
  sessionKey?: string | null;
  className?: string;
}

export function SessionLink(props: SessionLinkProps): JSX.Element | null {
  const { sessionKey, className = 'onyx-Link', titleOf, openSession } = props;
  const { trans } = useUi();
  return sessionKey && openSession ? (
    <button
      type="button"
      className={className}
      data-onyx="memory-session"
      title={trans.__('Open the conversation')}
      onClick={() => openSession(sessionKey)}
    >
      {titleOf(sessionKey) ?? trans.__('Conversation')}
    </button>
  ) : null;
}
