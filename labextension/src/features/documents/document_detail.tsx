/**
 * One document: its source, how far it has been read, what could not be read and why, and the actions on it.
 */
import { formatRelative } from '../../shared/relative_time';
import type { KnowledgeItemInfo } from '../../protocol/wire';
import { isInProgress, standing } from './document_words';
import { RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface DocumentDetailProps {
  item: KnowledgeItemInfo;
  /** Why the last action failed. */
  refusal: string | null;
  dismissRefusal: () => void;
  online: boolean;
  refresh: () => void;
  stop: () => void;
  remove: () => void;
  /** Opens it in JupyterLab; null if JupyterLab cannot. */
  open: (() => void) | null;
  back: () => void;
}

export function DocumentDetail(props: DocumentDetailProps): JSX.Element {
  const { item } = props;
  const { trans } = useUi();
  const words = standing(item, trans);
  return (
    <>
      <Head {...props} />
      <RefusalNote reason={props.refusal} dismiss={props.dismissRefusal} hook="document-refusal" />
      {item.state === 'failed' && item.problem && (
        <div className="onyx-Problem" data-onyx="document-reason">
          {item.problem}
        </div>
      )}
      <div className="onyx-Progress" role="status" data-onyx="document-standing">
        {isInProgress(item) && item.total > 1 && (
          <progress
            className="onyx-Bar"
            value={item.done}
            max={item.total}
            aria-label={trans.__('Reading %1', item.title)}
          />
        )}
        {words && <span>{words}</span>}
      </div>
      {item.problemCount > 0 && <Problems item={item} />}
    </>
  );
}

function Head(props: DocumentDetailProps): JSX.Element {
  const { item, online, refresh, stop, remove, open, back } = props;
  const { trans } = useUi();
  const button = (hook: string, label: string, onClick: () => void, needsServer = true) => (
    <button
      type="button"
      className="onyx-Button"
      data-onyx={hook}
      disabled={needsServer && !online}
      onClick={onClick}
    >
      {label}
    </button>
  );
  return (
    <header className="onyx-Detail-head">
      <button type="button" className="onyx-Link onyx-Detail-back" data-onyx="document-back" onClick={back}>
        {trans.__('← All memory')}
      </button>
      <h3>{item.title}</h3>
      <div className="onyx-Detail-facts">
        {item.path !== item.title && <span>{item.path}</span>}
        <span title={item.addedAt}>{addedText(item, trans)}</span>
        {item.total > 1 && <span>{trans.__('%1 files', item.total)}</span>}
      </div>
      <div className="onyx-Document-actions">
        {item.kind === 'url' && isWebAddress(item.path) ? (
          <a className="onyx-Button" href={item.path} target="_blank" rel="noopener noreferrer">
            {trans.__('Open the page')}
          </a>
        ) : (
          open && button('document-open', trans.__('Open'), open, false)
        )}
        {isInProgress(item)
          ? button('document-stop', trans.__('Stop reading'), stop)
          : button('document-refresh', trans.__('Read again'), refresh)}
        {button('document-remove', trans.__('Remove'), remove)}
      </div>
    </header>
  );
}

function Problems({ item }: { item: KnowledgeItemInfo }): JSX.Element {
  const { trans } = useUi();
  const problems = item.problems ?? [];
  const left = item.problemCount - problems.length;
  return (
    <section className="onyx-Document-problems" data-onyx="document-problems">
      <h4>
        {trans._n(
          '1 file could not be read, or not all of it',
          '%1 files could not be read, or not all of them',
          item.problemCount
        )}
      </h4>
      <dl>
        {problems.map(({ path, message }, index) => (
          <div key={index}>
            <dt>{path}</dt>
            <dd>{message}</dd>
          </div>
        ))}
      </dl>
      {left > 0 && <p className="onyx-Note">{trans._n('… and 1 more', '… and %1 more', left)}</p>}
    </section>
  );
}

function addedText({ kind, addedAt }: KnowledgeItemInfo, trans: Ui['trans']): string {
  const when = formatRelative(addedAt);
  if (kind === 'path') {
    return trans.__('added %1', when);
  }
  return kind === 'upload'
    ? trans.__('uploaded %1; Onyx keeps a copy', when)
    : trans.__('added %1; Onyx keeps a copy', when);
}

function isWebAddress(address: string): boolean {
  return /^https?:\/\//i.test(address);
}
