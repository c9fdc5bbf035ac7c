/** The permanent grants, kept current from the server. They are given on the approval card, not here. */
import type { EventFrame } from '../../protocol/frames';
import type { GrantInfo } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export class Grants extends LiveList {
  /** Newest first; null until read. */
  get grants(): readonly GrantInfo[] | null {
    return this._grants;
  }

  /** The grant that was last revoked here, to confirm it. */
  get revoked(): GrantInfo | null {
    return this._revoked;
  }

  /** Drops the list: it is read again when the panel is next opened. */
  override close(): void {
    super.close();
    this.invalidatePending();
    this.forgetProblems();
    this._grants = null;
    this._revoked = null;
  }

  /** Onyx asks again from its next call on. */
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
