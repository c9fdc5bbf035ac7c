/** The detail's place while no file is chosen: what memory is, and how something gets into it. */
import { useUi } from './ui_context';

interface MemoryEmptyProps {
  /** Nothing stands in memory yet. */
  isEmpty: boolean;
}

export function MemoryEmpty({ isEmpty }: MemoryEmptyProps): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Panel-empty" data-onyx="memory-empty">
      <p>
        {isEmpty
          ? trans.__('Nothing is remembered yet. Tell Onyx “remember that …”, and it stands here.')
          : trans.__('Choose a file to read it, or search for what you once said.')}
      </p>
      <p>
        {trans.__(
          'Memory is Markdown that is yours: change it in any editor, and Onyx knows it a moment later. Every former state is kept and can be brought back.'
        )}
      </p>
    </div>
  );
}
