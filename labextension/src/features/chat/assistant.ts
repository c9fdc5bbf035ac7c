/** The available agents and models and the server's health, for the picker and the first page. */
import type { EventFrame } from '../../protocol/frames';
import type { ConnectionState, SocketClient } from '../../protocol/socket_client';
import type { Agent, Component, Health, ModelInfo } from '../../protocol/wire';
import { MODES } from '../composer/mode';
import type { Mode } from '../composer/mode';
import { Debounced } from '../../shared/debounce';
import { ViewModel } from '../../shared/view_model';

export class Assistant extends ViewModel {
  constructor(private readonly client: SocketClient) {
    super();
    client.stateChanged.connect(this._onState, this);
    client.event.connect(this._onEvent, this);
    if (client.state === 'open') {
      void this.refresh();
    }
  }

  get agent(): Agent | null {
    return this._agents.find(agent => agent.default) ?? this._agents[0] ?? null;
  }

  get models(): readonly ModelInfo[] {
    return this._models;
  }

  get health(): Health | null {
    return this._health;
  }

  /** The modes that can be chosen here; all of them until the server has answered. */
  get modes(): readonly Mode[] {
    return this._health?.ceiling?.modes ?? MODES;
  }

  /** A component of the health report, by name. */
  component(name: string): Component | null {
    return this._health?.components[name] ?? null;
  }

  /** Asks again. `reload` makes the server read its configuration again. */
  async refresh(reload = false): Promise<void> {
    try {
      const { models } = await this.client.request('models.list', { refresh: reload }, 60_000);
      const { agents } = await this.client.request('agents.list', {});
      const health = await this.client.request('health.check', {});
      this._models = models;
      this._agents = agents;
      this._health = health;
    } catch {
      // The connection's own state says what is wrong; the last answer stays on screen.
    }
    this.emit();
  }

  private _onState(_: SocketClient, state: ConnectionState): void {
    if (state === 'open') {
      void this.refresh();
    }
  }

  override dispose(): void {
    this._debounced.dispose();
    super.dispose();
  }

  private _onEvent(_: SocketClient, { event }: EventFrame): void {
    if (event === 'settings.updated' || event === 'providers.updated') {
      this._debounced.ask();
    }
  }

  private _agents: Agent[] = [];
  private _models: ModelInfo[] = [];
  private _health: Health | null = null;
  private readonly _debounced = new Debounced(() => void this.refresh());
}
