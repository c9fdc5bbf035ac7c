/** One line below the header that says what is wrong and what to do: the connection, the configuration. */
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

import type { Assistant } from './assistant';
import type { ViewState } from './view_state';
import { useSignals } from '../../shared/hooks';
import { useUi } from '../../shared/ui_context';
import type { Reachability } from '../../protocol/rest_client';
import type { SocketClient } from '../../protocol/socket_client';

export type ReachabilityCheck = () => Promise<Reachability>;

/** A short loss, such as a server restart, is not worth mentioning. */
const TIMEOUT_MS = 700;

interface ConnectionBannerProps {
  client: SocketClient;
  check: ReachabilityCheck;
}

/** Says that the connection is lost, why as far as known, and offers to reconnect at once. */
export function ConnectionBanner({ client, check }: ConnectionBannerProps): JSX.Element | null {
  const { trans } = useUi();
  useSignals(client.stateChanged);
  const isOpen = client.state === 'open';
  const reason = useReachability(isOpen, check);
  if (isOpen || reason === null) {
    return null;
  }
  const texts: Record<Reachability, string> = {
    ok: trans.__('Connecting…'),
    unreachable: trans.__(
      'Offline. The Jupyter server isn’t responding; your messages will be sent when it is back.'
    ),
    denied: trans.__('Jupyter asks you to log in again. Reload the page.'),
    absent: trans.__(
      'The Onyx server extension is not running. Install onyx-jupyter where Jupyter runs and restart it.'
    )
  };
  return (
    <Banner hook="connection-banner" action={{ label: trans.__('Try now'), run: () => client.connect() }}>
      {texts[reason]}
    </Banner>
  );
}

function useReachability(isOpen: boolean, check: ReachabilityCheck): Reachability | null {
  const [reason, setReason] = useState<Reachability | null>(null);
  useEffect(() => {
    if (isOpen) {
      return;
    }
    let isCurrent = true;
    const look = () => void check().then(found => isCurrent && setReason(found));
    const first = setTimeout(look, TIMEOUT_MS);
    const again = setInterval(look, 5000);
    return () => {
      isCurrent = false;
      clearTimeout(first);
      clearInterval(again);
      setReason(null);
    };
  }, [isOpen, check]);
  return reason;
}

/** Says what is wrong with the configuration, except beside the panel that explains it. */
export function ConfigBanner({
  assistant,
  view
}: {
  assistant: Assistant;
  view: ViewState;
}): JSX.Element | null {
  const { trans } = useUi();
  useSignals(assistant.changed);
  const config = assistant.component('config');
  if (!config || config.ok || view.panel === 'connect') {
    return null;
  }
  return (
    <Banner
      hook="config-banner"
      action={{ label: trans.__('Check again'), run: () => void assistant.refresh(true) }}
    >
      {config.message}
      {config.hint ? ` ${config.hint}` : ''}
    </Banner>
  );
}

interface BannerProps {
  hook: string;
  children: ReactNode;
  action?: { label: string; run: () => void };
}

function Banner({ hook, children, action }: BannerProps): JSX.Element {
  return (
    <div className="onyx-Banner" role="status" data-onyx={hook}>
      <span>{children}</span>
      {action && (
        <button type="button" className="onyx-Link" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  );
}
