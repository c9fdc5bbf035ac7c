/** Opens and keeps the connection to the server, and checks it again after sleep and network changes. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { Assistant } from '../chat/assistant';
import { RestClient } from '../../protocol/rest_client';
import { SessionEvents } from '../../protocol/session_events';
import { SocketClient } from '../../protocol/socket_client';
import { IOnyxConnection } from '../../tokens';

export const connectionPlugin: JupyterFrontEndPlugin<IOnyxConnection> = {
  id: 'onyx-jupyter:connection',
  description: 'The connection to the Onyx server extension.',
  autoStart: true,
  provides: IOnyxConnection,
  activate: (app: JupyterFrontEnd): IOnyxConnection => {
    const rest = new RestClient(app.serviceManager.serverSettings);
    const client = new SocketClient({ openSocket: () => rest.openSocket() });
    const connection = {
      client,
      rest,
      events: new SessionEvents(client),
      assistant: new Assistant(client)
    };
    window.addEventListener('online', () => void client.probe());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') {
        void client.probe();
      }
    });
    window.addEventListener('pagehide', () => client.dispose(), { once: true });
    client.connect();
    return connection;
  }
};
