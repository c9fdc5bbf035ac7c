/**
 * What was sent along with a message: the names in one line, and on a click the exact texts that the model
 * got.
 */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { useState } from 'react';

import type { Citation } from '../../shared/citations';
import { itemKey, itemPlace, formatNames, formatTokens } from './context_items';
import type { ContextOf } from './context_items';
import { useUi } from '../../shared/ui_context';

/** What the user attached in one line, what was recalled from memory in another. */
export function SentContext({ items }: { items: readonly ContextOf[] }): JSX.Element {
  const sent = items.filter(item => item.type !== 'memory');
  const recalled = items.filter(item => item.type === 'memory');
  return (
    <div className="onyx-Sent">
      {sent.length > 0 && <SentGroup items={sent} />}
      {recalled.length > 0 && <SentGroup items={recalled} />}
    </div>
  );
}

function SentGroup({ items }: { items: readonly ContextOf[] }): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const tokens = items.every(item => item.tokens !== undefined)
    ? items.reduce((sum, item) => sum + (item.tokens ?? 0), 0)
    : null;
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  const hasProblem = items.some(item => item.problem);
  return (
    <div className="onyx-Sent-group">
      <button
        type="button"
        className={hasProblem ? 'onyx-Sent-line onyx-mod-problem' : 'onyx-Sent-line'}
        data-onyx="sent-context"
        aria-expanded={isOpen}
        title={tokens === null ? undefined : trans.__('Attached: %1', formatTokens(tokens, trans))}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Caret.react tag="span" className="onyx-Icon" />
        <span className="onyx-Sent-names">{formatNames(items, trans)}</span>
      </button>
      {isOpen && items.map(item => <SentText key={itemKey(item)} item={item} />)}
    </div>
  );
}

/** One item: what it is, its token count, and its text as the model gets it. */
export function SentText({ item }: { item: ContextOf }): JSX.Element {
  const { trans, openMemory } = useUi();
  const cited = item.type === 'memory' ? citationOf(item) : null;
  return (
    <div className="onyx-Sent-item" data-onyx="sent-item" data-type={item.type}>
      <div className="onyx-Sent-head">
        {cited && openMemory ? (
          <button
            type="button"
            className="onyx-Link onyx-Sent-place"
            data-onyx="memory-recalled"
            title={trans.__('Open in memory')}
            onClick={() => openMemory(cited)}
          >
            {itemPlace(item, trans)}
          </button>
        ) : (
          <span className="onyx-Sent-place">{itemPlace(item, trans)}</span>
        )}
        {item.tokens !== undefined && (
          <span className="onyx-Sent-tokens" data-onyx="sent-tokens">
            {formatTokens(item.tokens, trans)}
          </span>
        )}
      </div>
      {item.problem ? (
        <div className="onyx-Sent-problem" role="status">
          {item.problem}
        </div>
      ) : item.text ? (
        <pre className="onyx-Sent-text" data-onyx="sent-text" tabIndex={0}>
          {item.type === 'memory' ? <Fenced text={item.text} /> : item.text}
        </pre>
      ) : (
        <div className="onyx-Note">{plain(item, trans)}</div>
      )}
    </div>
  );
}

/** Dims the delimiters around the text, which matter to the model but hardly to the user. */
function Fenced({ text }: { text: string }): JSX.Element {
  const lines = text.split('\n');
  if (lines.length < 3 || !text.startsWith('<<<')) {
    return <>{text}</>;
  }
  return (
    <>
      <span className="onyx-Sent-mark">{lines[0]}</span>
      {`\n${lines.slice(1, -1).join('\n')}\n`}
      <span className="onyx-Sent-mark">{lines[lines.length - 1]}</span>
    </>
  );
}

function citationOf({ path, startLine, endLine }: ContextOf): Citation {
  return startLine ? { path, lines: [startLine, endLine ?? startLine] } : { path };
}

function plain(item: ContextOf, trans: ReturnType<typeof useUi>['trans']): string {
  return item.type === 'notebook'
    ? trans.__('Only its name and the cell you are in. Onyx reads what it needs.')
    : trans.__('Reading…');
}
