/**
 * What a model thought before it answered: one folded line that opens to plain text. Not part of the answer.
 */
import { memo, useId, useState } from 'react';

import { formatSeconds } from './tool_words';
import { FoldLine } from '../../shared/fold_line';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

interface ThoughtViewProps {
  text: string;
  /** How long it thought, if known. */
  seconds?: number;
  /** Whether more may come. */
  isThinking: boolean;
}

export const ThoughtView = memo(function ThoughtView(props: ThoughtViewProps): JSX.Element {
  const { text, seconds } = props;
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const bodyId = useId();
  const isThinking = props.isThinking && seconds === undefined;
  return (
    <div className="onyx-Tool onyx-Thought" data-onyx="thought" data-thinking={isThinking}>
      <FoldLine {...{ isOpen, setIsOpen, bodyId }}>
        {isThinking && <span className="onyx-Working" aria-hidden="true" />}
        <span>
          {isThinking
            ? trans.__('Thinking…')
            : seconds === undefined
              ? trans.__('Thought')
              : trans.__('Thought for %1', formatSeconds(seconds))}
        </span>
      </FoldLine>
      <div id={bodyId} hidden={!isOpen} className="onyx-Tool-body">
        {isOpen && (
          <div className="onyx-Thought-text" data-onyx="thought-text">
            {text ? <VisibleText text={text} /> : trans.__('Nothing to show yet.')}
          </div>
        )}
      </div>
    </div>
  );
});
