/** What was allowed for good, as the server has it now. It grants nothing itself: that happens where one is asked. */
import type { EventFrame } from '../../protocol/frames';
import type { GrantInfo } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export class Grants extends LiveList {
  /** Newest first; null before they were read. */
  get grants(): readonly GrantInfo[] | null {
    return this._grants;
  }

  /** What was revoked last from here, to say so. */
  get revoked(): GrantInfo | null {
    return this._revoked;
  }

  /** What was read is forgotten: it is read anew when somebody looks again. */
  override close(): void {
    super.close();
    this.overtake();
    this.forgetProblems();
    this._grants = null;
    this._revoked = null;
  }

  /** From its next call on Onyx asks again. */
  revoke(grant: GrantInfo): Promise<void> {
    return this.attempt(async () => {
      await this.client.request('grants.revoke', { grantId: grant.id });
      this._revoked = grant;
      this._grants = this._grants?.filter(one => one.id !== grant.id) ?? null;
    });
  }

  protected async read(): Promise<() => void> {
    const { grants } = await this.client.request('grants.list', {});
    return () => {
      this._grants = [...grants].sort((left, right) => right.createdAt.localeCompare(left.createdAt));
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return frame.event === 'grants.updated';
  }

  private _grants: readonly GrantInfo[] | null = null;
  private _revoked: GrantInfo | null = null;
}
