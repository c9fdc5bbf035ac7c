/** The versions of a memory file: a timeline, what the chosen one changed, and a way to restore it. */
import { undoIcon } from '@jupyterlab/ui-components';

import type { Comparison, MemoryFile } from './memory_file';
import type { MemoryVersionInfo } from '../../protocol/wire';
import { DrawnDiff } from '../../shared/drawn_diff';
import type { DrawDiff } from '../../shared/drawn_diff';
import { SessionLink } from './session_link';
import type { SessionLinkActions } from './session_link';
import { moveFocus } from '../../shared/move_focus';
import { formatRelative } from '../../shared/relative_time';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface MemoryVersionsProps extends SessionLinkActions {
  file: MemoryFile;
  online: boolean;
  drawDiff: DrawDiff;
}

export function MemoryVersions(props: MemoryVersionsProps): JSX.Element {
  const { file } = props;
  const { versions, comparison, compared } = file;
  const { trans } = useUi();
  if (versions === null) {
    return <p className="onyx-Note">{trans.__('Reading…')}</p>;
  }
  if (versions.length === 0) {
    return <p className="onyx-Note">{trans.__('No versions yet: the file has never been changed.')}</p>;
  }
  return (
    <div className="onyx-Versions" data-onyx="memory-versions">
      <Timeline {...props} versions={versions} />
      <div className="onyx-Versions-change">
        {compared === null && (
          <p className="onyx-Note">{trans.__('Choose a version to see what has changed since.')}</p>
        )}
        {compared !== null && !comparison && <p className="onyx-Note">{trans.__('Reading…')}</p>}
        {comparison && <Change {...props} comparison={comparison} />}
      </div>
    </div>
  );
}

/** Newest first: when, by whom, in which conversation. */
function Timeline(props: MemoryVersionsProps & { versions: readonly MemoryVersionInfo[] }): JSX.Element {
  const { file, online, versions } = props;
  const { trans } = useUi();
  const leftOut = file.versionCount - versions.length;
  const canShowOlder = online && !file.isReadingOlder;
  return (
    <div className="onyx-Timeline" onKeyDown={event => moveFocus(event, '[data-onyx=memory-version]')}>
      <ol aria-label={trans.__('Versions')}>
        {versions.map(version => (
          <Entry key={version.version} {...props} version={version} />
        ))}
      </ol>
      {leftOut > 0 && (
        <div className="onyx-Timeline-older">
          <button
            type="button"
            className="onyx-Link"
            data-onyx="memory-older"
            aria-disabled={!canShowOlder}
            onClick={() => canShowOlder && void file.showOlder()}
          >
            {trans.__('Show older')}
          </button>
          <span>{trans._n('%1 more', '%1 more', leftOut)}</span>
        </div>
      )}
    </div>
  );
}

function Entry(props: MemoryVersionsProps & { version: MemoryVersionInfo }): JSX.Element {
  const { file, version, titleOf, openSession } = props;
  const { trans } = useUi();
  return (
    <li data-author={version.author} data-current={version.current || undefined}>
      <button
        type="button"
        className="onyx-Row"
        data-onyx="memory-version"
        data-version={version.version}
        aria-current={version.version === file.compared}
        title={new Date(version.at).toLocaleString()}
        onClick={() => file.compare(version.version)}
      >
        <span className="onyx-Timeline-who">{authorName(version.author, trans)}</span>
        <span className="onyx-Row-state">{formatRelative(version.at)}</span>
        <span className="onyx-Timeline-what">{formatState(version, trans)}</span>
      </button>
      <SessionLink className="onyx-Link onyx-Timeline-session" {...{ ...version, titleOf, openSession }} />
    </li>
  );
}

function authorName(author: MemoryVersionInfo['author'], trans: Ui['trans']): string {
  const names: Record<MemoryVersionInfo['author'], string> = {
    user: trans.__('You'),
    agent: trans.__('Onyx'),
    consolidation: trans.__('Consolidation')
  };
  return names[author];
}

function formatState(version: MemoryVersionInfo, trans: Ui['trans']): string {
  const words = [
    version.current ? trans.__('Version %1, now', version.version) : trans.__('Version %1', version.version)
  ];
  if (version.deleted) {
    words.push(trans.__('deleted'));
  }
  if (version.restored) {
    words.push(trans.__('restored version %1', version.restored));
  }
  return words.join(' · ');
}

function Change(props: MemoryVersionsProps & { comparison: Comparison }): JSX.Element {
  const { comparison, file, online, drawDiff } = props;
  const { version, before, after, isCut } = comparison;
  const { trans } = useUi();
  const isSame = before === after && !isCut;
  return (
    <>
      <div className="onyx-Versions-head">
        <h4>{heading(comparison, trans)}</h4>
        {!version.current && !version.deleted && (
          <button
            type="button"
            className="onyx-Button"
            data-onyx="memory-restore"
            disabled={!online || file.isBusy || isSame}
            onClick={() => void file.restore(version)}
          >
            <undoIcon.react tag="span" className="onyx-Icon" />
            {trans.__('Restore')}
          </button>
        )}
      </div>
      {isCut && (
        <p className="onyx-Note">{trans.__('The file is long: only its beginning is compared here.')}</p>
      )}
      {before === after ? (
        <p className="onyx-Note" data-onyx="memory-same">
          {comparison.with === 'nothing'
            ? trans.__('No earlier version is kept, so there is nothing to compare it with.')
            : trans.__('No differences.')}
        </p>
      ) : (
        <div className="onyx-CellMark-diff onyx-Versions-diff">
          <DrawnDiff before={before} after={after} draw={drawDiff} hook="memory-diff" trans={trans} />
        </div>
      )}
    </>
  );
}

function heading({ version, with: other }: Comparison, trans: Ui['trans']): string {
  if (other === 'nothing') {
    return trans.__('Version %1, as it is now', version.version);
  }
  return other === 'now'
    ? trans.__('What changed since version %1', version.version)
    : trans.__('What version %1 changed', version.version);
}
