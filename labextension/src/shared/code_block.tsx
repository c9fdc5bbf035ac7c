/**
 * Code in an answer: plain text while it is being written, highlighted when complete, with copy and insert.
 */
import { addBelowIcon, checkIcon, copyIcon } from '@jupyterlab/ui-components';
import { memo } from 'react';

import { useTemporaryFlag } from './hooks';
import { IconButton } from './icon_button';
import { MarkdownBlockView } from './markdown_block_view';
import { useUi } from './ui_context';

/** Output or speech, not code to run. */
const NO_CODE = new Set(['text', 'txt', 'plain', 'output', 'console', 'mermaid']);
const PLAIN_TEXT = new Set(['', 'text', 'txt', 'plain', 'output', 'console']);

interface CodeBlockProps {
  source: string;
  code: string;
  language: string;
  finished: boolean;
}

export const CodeBlock = memo(function CodeBlock(props: CodeBlockProps): JSX.Element {
  const { source, code, language, finished } = props;
  const { trans } = useUi();
  return (
    <div className="onyx-Code" data-onyx="code" role="group" aria-label={trans.__('Code')}>
      <div className="onyx-Code-bar">
        <span className="onyx-Code-language">{language}</span>
        <CodeButtons code={code} canInsert={!NO_CODE.has(language.toLowerCase())} />
      </div>
      {finished && !PLAIN_TEXT.has(language.toLowerCase()) ? (
        <MarkdownBlockView source={closed(source)} finished />
      ) : (
        <pre className="onyx-Code-plain">
          <code>{code}</code>
        </pre>
      )}
    </div>
  );
});

function CodeButtons({ code, canInsert }: { code: string; canInsert: boolean }): JSX.Element {
  const { trans, copy, insertCode } = useUi();
  const [copied, markCopied] = useTemporaryFlag();
  const [inserted, markInserted] = useTemporaryFlag();
  return (
    <>
      {insertCode && canInsert && (
        <IconButton
          icon={inserted ? checkIcon : addBelowIcon}
          label={inserted ? trans.__('Inserted') : trans.__('Insert below the active cell')}
          hook="insert-code"
          onClick={() => {
            insertCode(code);
            markInserted();
          }}
        />
      )}
      <IconButton
        icon={copied ? checkIcon : copyIcon}
        label={copied ? trans.__('Copied') : trans.__('Copy')}
        hook="copy-code"
        onClick={() => {
          copy(code);
          markCopied();
        }}
      />
    </>
  );
}

/** An answer that ended inside a fence is still drawn as code. */
function closed(source: string): string {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(source)?.[1] ?? '```';
  const last = source.slice(source.lastIndexOf('\n') + 1).trim();
  return last.startsWith(fence) && source.includes('\n') ? source : `${source}\n${fence}`;
}
