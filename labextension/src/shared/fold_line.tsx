/** A line that opens what is below it. */
import { caretRightIcon } from '@jupyterlab/ui-components';
import type { ReactNode } from 'react';

interface FoldLineProps {
  isOpen: boolean;
  setIsOpen: (isOpen: boolean) => void;
  /** The id of what it opens. */
  bodyId: string;
  hook?: string;
  children: ReactNode;
}

export function FoldLine({ isOpen, setIsOpen, bodyId, hook, children }: FoldLineProps): JSX.Element {
  return (
    <button
      type="button"
      className="onyx-Tool-line"
      data-onyx={hook}
      aria-expanded={isOpen}
      aria-controls={bodyId}
      onClick={() => setIsOpen(!isOpen)}
    >
      <caretRightIcon.react tag="span" className="onyx-Icon onyx-Tool-caret" />
      {children}
    </button>
  );
}
