/**
 * One notification for each waiting request that is out of sight, removed as soon as it is answered or seen.
 */
import type { ToolCall } from '../chat/conversation';
import { withMarks } from '../../shared/visible_characters';

export interface NoticeBoard {
  show: (summary: string) => string;
  dismiss: (id: string) => void;
}

export class WaitingNotices {
  constructor(private readonly board: NoticeBoard) {}

  /** The calls that wait for an approval or an answer and are out of sight. */
  update(unseen: readonly ToolCall[]): void {
    const wanted = new Map(
      unseen.map(call => [call.callId, call.approval?.summary ?? call.question?.question])
    );
    for (const [callId, notice] of [...this._shown]) {
      if (!wanted.has(callId)) {
        this._shown.delete(callId);
        this.board.dismiss(notice);
      }
    }
    for (const [callId, summary] of wanted) {
      if (!this._shown.has(callId)) {
        this._shown.set(callId, this.board.show(withMarks(summary ?? '')));
      }
    }
  }

  private readonly _shown = new Map<string, string>();
}
