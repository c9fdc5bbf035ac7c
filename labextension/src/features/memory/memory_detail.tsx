/**
 * One memory file: its text, or its versions with a diff and a restore button; its actions are at the top.
 */
import { editIcon } from '@jupyterlab/ui-components';

import { formatRelative } from '../../shared/relative_time';
import type { MemoryFile } from './memory_file';
import type { MemoryPlace } from '../../shared/citations';
import { fileTitle, formatSize } from './memory_text';
import type { MemoryFileInfo } from '../../protocol/wire';
import type { DrawDiff } from '../../shared/drawn_diff';
import { MemoryFactsView } from './memory_facts_view';
import { MemoryTextView } from './memory_text_view';
import { MemoryVersions } from './memory_versions';
import type { SessionLinkActions } from './session_link';
import { RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';

interface MemoryDetailProps extends SessionLinkActions {
  file: MemoryFile;
  place: MemoryPlace;
  /** Its entry in the list; null if it is not there. */
  info: MemoryFileInfo | null;
  online: boolean;
  drawDiff: DrawDiff;
  openEditor: (() => void) | null;
}

export function MemoryDetail(props: MemoryDetailProps): JSX.Element {
  const { file, place } = props;
  const { trans } = useUi();
  return (
    <>
      <Head {...props} />
      {file.problem && (
        <div className="onyx-Problem" role="alert" data-onyx="memory-problem">
          {file.problem}
        </div>
      )}
      <RefusalNote reason={file.refusal} dismiss={() => file.dismissRefusal()} hook="memory-refusal" />
      {file.hasConflict && (
        <div className="onyx-Problem onyx-Memory-conflict" role="alert" data-onyx="memory-conflict">
          <strong>{trans.__('%1 has changed in the meantime, so nothing was restored.', place.path)}</strong>
          <span>{trans.__('You now see the latest version. Review it, then restore again.')}</span>
        </div>
      )}
      {file.view === 'versions' ? <MemoryVersions {...props} /> : <Text {...props} />}
    </>
  );
}

function Head(props: MemoryDetailProps): JSX.Element {
  const { file, place, info, openEditor } = props;
  const { trans } = useUi();
  const title = fileTitle(place.path, trans);
  const tab = (name: 'text' | 'versions', label: string) => (
    <button
      type="button"
      role="tab"
      aria-selected={file.view === name}
      data-onyx={`memory-show-${name}`}
      onClick={() => file.show(name)}
    >
      {label}
    </button>
  );
  return (
    <header className="onyx-Detail-head">
      <button
        type="button"
        className="onyx-Link onyx-Detail-back"
        data-onyx="memory-back"
        onClick={() => file.open(null)}
      >
        {trans.__('← All memory')}
      </button>
      <div className="onyx-Memory-title">
        <h3>{title}</h3>
        <div className="onyx-Tabs" role="tablist">
          {tab('text', trans.__('Text'))}
          {tab('versions', trans._n('%1 version', '%1 versions', file.versionCount))}
        </div>
        <button
          type="button"
          className="onyx-Button"
          data-onyx="memory-editor"
          title={trans.__('Open in JupyterLab’s editor')}
          disabled={openEditor === null}
          onClick={openEditor ?? undefined}
        >
          <editIcon.react tag="span" className="onyx-Icon" />
          {trans.__('Edit')}
        </button>
      </div>
      <div className="onyx-Detail-facts">
        {title !== place.path && <span>{place.path}</span>}
        {info?.shared && <span>{trans.__('for all agents')}</span>}
        {info && !info.deleted && <span>{formatSize(info.sizeBytes)}</span>}
        {info?.changedAt && (
          <span title={info.changedAt}>{trans.__('changed %1', formatRelative(info.changedAt))}</span>
        )}
        {info?.deleted && <span>{trans.__('deleted')}</span>}
      </div>
    </header>
  );
}

function Text(props: MemoryDetailProps): JSX.Element | null {
  const { file, place, info } = props;
  const { text } = file;
  const { trans } = useUi();
  if (info?.deleted) {
    return (
      <p className="onyx-Note">
        {trans.__('This file was deleted. Its versions are kept.')}
        <button type="button" className="onyx-Link" onClick={() => file.show('versions')}>
          {trans.__('Show its versions')}
        </button>
      </p>
    );
  }
  if (!text) {
    return file.problem ? null : <p className="onyx-Note">{trans.__('Reading…')}</p>;
  }
  if (text.text.trim() === '') {
    return <p className="onyx-Note">{trans.__('This file is empty.')}</p>;
  }
  if (text.facts) {
    return <MemoryFactsView {...props} facts={text.facts} />;
  }
  return (
    <>
      {place.lines && <Lines lines={place.lines} text={text.text} />}
      <MemoryTextView key={place.path} text={text.text} lines={place.lines} />
      {text.cut && (
        <p className="onyx-Note">{trans.__('The file continues. Open it in the editor to see all of it.')}</p>
      )}
    </>
  );
}

/** A citation may be older than the file. */
function Lines({ lines, text }: { lines: readonly [number, number]; text: string }): JSX.Element | null {
  const { trans } = useUi();
  const count = text.trimEnd().split('\n').length;
  return lines[0] > count ? (
    <p className="onyx-Note" data-onyx="memory-lines-gone">
      {trans.__('Line %1 no longer exists: the file has %2.', lines[0], count)}
    </p>
  ) : null;
}
