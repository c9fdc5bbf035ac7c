/** Shown while no file is chosen: what memory is, and how something gets into it. */
import { useUi } from '../../shared/ui_context';

export function MemoryEmpty(): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Panel-empty" data-onyx="memory-empty">
      <p>{trans.__('Choose a file to read it, or search for what you once said.')}</p>
      <p>
        {trans.__(
          'Tell Onyx “remember that …”, and it stands here. Much of what you say is kept without being asked for.'
        )}
      </p>
      <p>
        {trans.__(
          'Memory is Markdown that is yours: change it in any editor, and Onyx knows it a moment later. Every former state is kept and can be brought back.'
        )}
      </p>
    </div>
  );
}
