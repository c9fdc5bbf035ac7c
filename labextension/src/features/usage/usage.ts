/** What model calls used: the server's report, for the panel. */
import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { UsageReport } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export const PERIODS = [1, 7, 30] as const;
export type Period = (typeof PERIODS)[number];

export class Usage extends LiveList {
  /** `sessionKey` is the conversation in front. */
  constructor(
    client: SocketClient,
    private readonly sessionKey: () => string | null
  ) {
    super(client);
  }

  /** null until read. */
  get report(): UsageReport | null {
    return this._report;
  }

  /** Days to sum up, today included. */
  get period(): Period {
    return this._period;
  }

  choose(period: Period): void {
    this._period = period;
    this.emit();
    void this.load();
  }

  protected async read(): Promise<() => void> {
    const sessionKey = this.sessionKey();
    const report = await this.client.request('usage.get', { days: this._period, sessionKey });
    return () => {
      this._report = report;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'usage.changed';
  }

  private _report: UsageReport | null = null;
  private _period: Period = 7;
}
