/** One notice for each approval that nobody can see, taken back as soon as it is answered or seen. */
import type { ApprovalInfo } from '../protocol/wire';

export interface NoticeBoard {
  show: (summary: string) => string;
  dismiss: (id: string) => void;
}

export class WaitingNotices {
  constructor(private readonly board: NoticeBoard) {}

  /** The approvals that wait and cannot be seen now. */
  update(unseen: readonly ApprovalInfo[]): void {
    const wanted = new Map(unseen.map(approval => [approval.approvalId, approval]));
    for (const [approvalId, notice] of [...this._shown]) {
      if (!wanted.has(approvalId)) {
        this._shown.delete(approvalId);
        this.board.dismiss(notice);
      }
    }
    for (const [approvalId, approval] of wanted) {
      if (!this._shown.has(approvalId)) {
        this._shown.set(approvalId, this.board.show(approval.summary));
      }
    }
  }

  private readonly _shown = new Map<string, string>();
}
