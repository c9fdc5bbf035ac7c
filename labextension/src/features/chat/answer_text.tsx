/** An answer's Markdown as a list of blocks; only the growing block is redrawn. */
import { memo, useRef } from 'react';

import { MarkdownBlocks } from '../../shared/markdown_blocks';
import { CodeBlock } from '../../shared/code_block';
import { MarkdownBlockView } from '../../shared/markdown_block_view';
import type { NotebookOf } from '../../shared/text_links';

interface AnswerTextProps {
  text: string;
  complete: boolean;
  entryId?: string;
  /** Turns named cells into links; without it they stay plain text. */
  notebookOf?: NotebookOf;
}

export const AnswerText = memo(function AnswerText({
  text,
  complete,
  entryId,
  notebookOf
}: AnswerTextProps): JSX.Element {
  const splitter = useRef<MarkdownBlocks>(undefined);
  splitter.current ??= new MarkdownBlocks();
  const blocks = splitter.current.update(text, complete);
  return (
    <div className="onyx-Answer" data-onyx="answer" data-entry={entryId}>
      {blocks.map((block, index) =>
        block.kind === 'code' ? (
          <CodeBlock
            key={index}
            source={block.text}
            code={block.code}
            language={block.language}
            finished={block.finished}
          />
        ) : (
          <MarkdownBlockView
            key={index}
            source={block.text}
            finished={block.finished}
            notebookOf={notebookOf}
          />
        )
      )}
    </div>
  );
});
