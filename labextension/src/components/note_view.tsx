/** Something to know about a run that is no answer: a file that did not fit, another model that answered. */
import { infoIcon } from '@jupyterlab/ui-components';

import type { Note } from '../models/conversation';

export function NoteView({ note }: { note: Note }): JSX.Element {
  return (
    <div className="onyx-Notice" role="note" data-onyx="note" data-kind={note.kind}>
      <infoIcon.react tag="span" className="onyx-Icon" />
      <span>{note.message}</span>
    </div>
  );
}
