/** The titles of conversations, by key. Unknown ones are requested once. */
import type { SocketClient } from '../../protocol/socket_client';
import { ViewModel } from '../../shared/view_model';

const LIMIT = 200;

export class SessionTitles extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
  }

  /** Its title; null if it is unknown, or not known yet. */
  of(sessionKey: string): string | null {
    if (!this._titles.has(sessionKey)) {
      this._titles.set(sessionKey, null);
      void this._load();
    }
    return this._titles.get(sessionKey) ?? null;
  }

  private async _load(): Promise<void> {
    if (this._isLoading) {
      return;
    }
    this._isLoading = true;
    try {
      const { sessions } = await this.client.request('sessions.list', { limit: LIMIT });
      sessions.forEach(({ sessionKey, title }) => this._titles.set(sessionKey, title || null));
      this.emit();
    } catch {
      // Without a title, a version still says which conversation it comes from.
    } finally {
      this._isLoading = false;
    }
  }

  private _isLoading = false;
  private readonly _titles = new Map<string, string | null>();
}
