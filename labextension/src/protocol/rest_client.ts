/** What goes over HTTP: why the socket cannot be reached, and files. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { SocketLike } from './socket_client';
import type { KnowledgeItemInfo } from './wire';

/** `absent`: Jupyter answers, but not Onyx's server extension. `denied`: the login has expired. */
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

  /**
   * Uploads a file to the knowledge, which reads it in the background. Rejects with the server's words, or if
   * aborted.
   */
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

  /** A new socket to Onyx; the token is in the URL only if Jupyter's own sockets need it (another host). */
  openSocket(): SocketLike {
    const { WebSocket, wsUrl, token, appendToken } = this.settings;
    let url = URLExt.join(wsUrl, 'onyx', 'ws');
    if (appendToken && token) {
      url += `?token=${encodeURIComponent(token)}`;
    }
    return new WebSocket(url) as unknown as SocketLike;
  }
}

/** A proxy in between may also refuse, and not in JSON. */
async function refusalOf(response: Response): Promise<Error> {
  const { message } = (await response.json().catch(() => ({}))) as { message?: string };
  return new Error(message ?? response.statusText);
}
