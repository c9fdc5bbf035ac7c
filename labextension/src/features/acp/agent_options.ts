/** What can be chosen for the other agent that answers a session: its model, its mode, and so on. */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { AcpOption, AcpOptions } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

const CHOOSE_MS = 30_000;
const NONE: AcpOptions = { options: [] };

export class AgentOptions extends LiveList {
  /** `sessionKey` is null for a session that the server does not know yet. */
  constructor(
    client: SocketClient,
    private readonly sessionKey: () => string | null
  ) {
    super(client);
  }

  /** What that agent (`acp/<name>`) offers in this session; null while it is not at work there. */
  of(model: string): readonly AcpOption[] | null {
    const { agent, options } = this._sessionKey === this.sessionKey() ? this._offered : NONE;
    return agent && `acp/${agent}` === model ? options : null;
  }

  /** The option whose choice is on its way to the agent. */
  get pending(): string | null {
    return this._pending;
  }

  async choose(option: string, value: string | boolean): Promise<void> {
    const sessionKey = this.sessionKey();
    if (sessionKey === null) {
      return;
    }
    this._pending = option;
    this.emit();
    await this.attempt(async () => {
      const offered = await this.client.request('acp.setOption', { sessionKey, option, value }, CHOOSE_MS);
      this.invalidatePending();
      this._take(sessionKey, offered);
    });
    this._pending = null;
    this.emit();
  }

  protected async read(): Promise<() => void> {
    const sessionKey = this.sessionKey();
    const offered = sessionKey === null ? NONE : await this.client.request('acp.options', { sessionKey });
    return () => this._take(sessionKey, offered);
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'acp.updated' && frame.data.sessionKey === this.sessionKey();
  }

  private _take(sessionKey: string | null, offered: AcpOptions): void {
    this._sessionKey = sessionKey;
    this._offered = offered;
  }

  private _sessionKey: string | null = null;
  private _offered: AcpOptions = NONE;
  private _pending: string | null = null;
}
