/** What goes over HTTP: why the socket cannot be reached, and files. It never sends a message. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { SocketLike } from './socket_client';
import type { KnowledgeItemInfo } from './wire';

/** `absent`: Jupyter answers, Onyx's server half does not. `denied`: the login is gone. */
export type Reachability = 'ok' | 'absent' | 'denied' | 'unreachable';

export class RestClient {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  async reachability(): Promise<Reachability> {
    const url = URLExt.join(this.settings.baseUrl, 'onyx', 'health');
    try {
      const response = await ServerConnection.makeRequest(url, { cache: 'no-store' }, this.settings);
      if (response.status === 401 || response.status === 403) {
        return 'denied';
      }
      return response.status === 404 ? 'absent' : 'ok';
    } catch {
      return 'unreachable';
    }
  }

  /** One file for the knowledge, which is read in the background. Rejects with the server's words, or when it is stopped. */
  async uploadDocument(file: File, signal: AbortSignal): Promise<KnowledgeItemInfo> {
    const url = URLExt.join(this.settings.baseUrl, 'onyx', 'knowledge', 'uploads');
    const response = await ServerConnection.makeRequest(
      url + URLExt.objectToQueryString({ name: file.name }),
      { method: 'POST', body: file, signal, headers: { 'Content-Type': 'application/octet-stream' } },
      this.settings
    );
    if (!response.ok) {
      throw await refusalOf(response);
    }
    return (await response.json()) as KnowledgeItemInfo;
  }

  /** A new socket to Onyx; the token goes into the URL only where Jupyter's own sockets need it (another host). */
  openSocket(): SocketLike {
    const { WebSocket, wsUrl, token, appendToken } = this.settings;
    let url = URLExt.join(wsUrl, 'onyx', 'ws');
    if (appendToken && token) {
      url += `?token=${encodeURIComponent(token)}`;
    }
    return new WebSocket(url) as unknown as SocketLike;
  }
}

/** A proxy between here and the server may refuse, too, and not in JSON. */
async function refusalOf(response: Response): Promise<Error> {
  const { message } = (await response.json().catch(() => ({}))) as { message?: string };
  return new Error(message ?? response.statusText);
}
