/** What might be worth remembering of summarized messages; accepting it writes it into the memory. */
import { useState } from 'react';

import type { Proposal } from '../chat/note_data';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

interface ProposalListProps {
  /** Absent if nothing can be accepted. */
  noteId?: string;
  proposals: ReadonlyArray<Proposal & { number: number }>;
  accepted: ReadonlySet<unknown>;
}

export function ProposalList({ noteId, proposals, accepted }: ProposalListProps): JSX.Element {
  return (
    <ul className="onyx-Proposals">
      {proposals.map(proposal => (
        <ProposalItem
          key={proposal.number}
          noteId={noteId}
          proposal={proposal}
          isAccepted={accepted.has(proposal.number)}
        />
      ))}
    </ul>
  );
}

interface ProposalItemProps {
  noteId?: string;
  proposal: Proposal & { number: number };
  isAccepted: boolean;
}

function ProposalItem({ noteId, proposal, isAccepted }: ProposalItemProps): JSX.Element {
  const { trans, memory } = useUi();
  const [isBusy, setIsBusy] = useState(false);
  const [reason, setReason] = useState<string | null>(null);
  const accept = async () => {
    setIsBusy(true);
    const answer = await memory!.accept(noteId!, proposal.number, trans);
    setIsBusy(false);
    setReason(answer.ok ? null : (answer.reason ?? trans.__('It was not remembered.')));
  };
  return (
    <li data-onyx="proposal" data-accepted={isAccepted}>
      <div>
        <VisibleText text={proposal.content} />
      </div>
      <div className="onyx-Proposals-why">
        <code>
          <VisibleText text={proposal.target} />
        </code>{' '}
        · <VisibleText text={proposal.reason} />
      </div>
      {isAccepted ? (
        <div className="onyx-Proposals-state">{trans.__('Remembered')}</div>
      ) : (
        noteId &&
        memory && (
          <button
            type="button"
            className="onyx-Link"
            data-onyx="accept-proposal"
            disabled={isBusy}
            onClick={() => void accept()}
          >
            {isBusy ? trans.__('Remembering…') : trans.__('Remember this')}
          </button>
        )
      )}
      {reason && (
        <div className="onyx-Proposals-reason" role="alert" data-onyx="proposal-refused">
          {reason}
        </div>
      )}
    </li>
  );
}
