/** The memory files of one agent, and the state of the search in them. */
import type { EventFrame } from '../../protocol/frames';
import type { Agent, MemoryFileInfo, MemoryStatus } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export class MemoryFiles extends LiveList {
  /** Ordered by path; null until read. */
  get files(): readonly MemoryFileInfo[] | null {
    return this._files;
  }

  get status(): MemoryStatus | null {
    return this._status;
  }

  get agents(): readonly Agent[] {
    return this._agents;
  }

  /** Whose memory it is; null for the default agent. */
  get agentId(): string | null {
    return this._agentId;
  }

  file(path: string): MemoryFileInfo | null {
    return this._files?.find(file => file.path === path) ?? null;
  }

  choose(agentId: string | null): void {
    const standard = this._agents.find(agent => agent.default)?.id ?? null;
    const chosen = agentId === standard ? null : agentId;
    if (chosen !== this._agentId) {
      this._agentId = chosen;
      this._files = null;
      this.emit();
      void this.load();
    }
  }

  protected async read(): Promise<() => void> {
    const agentId = this._agentId;
    const [{ files }, status, { agents }] = await Promise.all([
      this.client.request('memory.files', { agentId }),
      this.client.request('memory.status', {}),
      this.client.request('agents.list', {})
    ]);
    return () => {
      this._files = files;
      this._status = status;
      this._agents = agents;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'memory.updated';
  }

  private _files: readonly MemoryFileInfo[] | null = null;
  private _status: MemoryStatus | null = null;
  private _agents: readonly Agent[] = [];
  private _agentId: string | null = null;
}
