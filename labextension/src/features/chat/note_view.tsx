/**
 * Information about a run that is not part of its answer: a file that did not fit, another model that
 * answered.
 */
import { infoIcon } from '@jupyterlab/ui-components';
import { useId, useState } from 'react';

import type { Note } from './conversation';
import { readCompaction, readMemory } from './note_data';
import { MemoryNote } from '../memory/memory_note';
import { ProposalList } from '../memory/proposal_list';
import { FoldLine } from '../../shared/fold_line';
import { useUi } from '../../shared/ui_context';

export function NoteView({ note }: { note: Note }): JSX.Element {
  if (note.kind === 'compaction') {
    return <CompactionNote note={note} />;
  }
  const memory = note.kind === 'memory' ? readMemory(note.data) : null;
  if (memory) {
    return <MemoryNote data={memory} />;
  }
  return (
    <div className="onyx-Notice" role="note" data-onyx="note" data-kind={note.kind}>
      <infoIcon.react tag="span" className="onyx-Icon" />
      <span>{note.message}</span>
    </div>
  );
}

/** One line that opens: how much was summarized, and what might be worth remembering. */
function CompactionNote({ note }: { note: Note }): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const bodyId = useId();
  const { id, proposals, accepted } = readCompaction(note.data);
  return (
    <div className="onyx-Tool onyx-Compaction" role="note" data-onyx="note" data-kind={note.kind}>
      <FoldLine {...{ isOpen, setIsOpen, bodyId }}>
        <span>{trans.__('Older messages were summarized')}</span>
      </FoldLine>
      <div id={bodyId} hidden={!isOpen} className="onyx-Tool-body">
        <div>{note.message}</div>
        {proposals.length > 0 && <ProposalList noteId={id} proposals={proposals} accepted={accepted} />}
      </div>
    </div>
  );
}
