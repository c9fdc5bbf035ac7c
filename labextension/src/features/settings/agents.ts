/** The other agents that Onyx knows or that are configured, and whether each is installed. */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { AcpAgentInfo } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export class Agents extends LiveList {
  constructor(client: SocketClient) {
    super(client);
  }

  /** Empty until read. */
  get agents(): readonly AcpAgentInfo[] {
    return this._agents;
  }

  protected async read(): Promise<() => void> {
    const { agents } = await this.client.request('acp.agents', {});
    return () => {
      this._agents = agents;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'settings.updated';
  }

  private _agents: readonly AcpAgentInfo[] = [];
}
