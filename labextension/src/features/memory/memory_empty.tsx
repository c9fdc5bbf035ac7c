/** Shown while no file is chosen: what memory is, and how something gets into it. */
import { useUi } from '../../shared/ui_context';

export function MemoryEmpty(): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Panel-empty" data-onyx="memory-empty">
      <p>{trans.__('Choose a file to read it, or search for something you said.')}</p>
      <p>
        {trans.__(
          'Tell Onyx “remember that …” and it appears here. Much of what you say is remembered without asking.'
        )}
      </p>
      <p>
        {trans.__(
          'Memory is Markdown, and it is yours: edit it anywhere, and Onyx picks up the change a moment later. Every earlier version is kept and can be restored.'
        )}
      </p>
    </div>
  );
}
