/** The timeline of a memory file beside its changes, with a way to restore a version. */
import { undoIcon } from '@jupyterlab/ui-components';

import type { Comparison } from './memory_file';
import type { MemoryVersionInfo } from '../../protocol/wire';
import { DrawnDiff } from '../../shared/drawn_diff';
import type { DrawDiff } from '../../shared/drawn_diff';
import { MemoryTimeline } from './memory_timeline';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface MemoryVersionsProps {
  versions: readonly MemoryVersionInfo[] | null;
  versionCount: number;
  comparison: Comparison | null;
  compared: number | null;
  online: boolean;
  isBusy: boolean;
  isReadingOlder: boolean;
  drawDiff: DrawDiff;
  titleOf: (sessionKey: string) => string | null;
  compare: (version: number | null) => void;
  showOlder: () => void;
  restore: (version: MemoryVersionInfo) => void;
  openSession: ((sessionKey: string) => void) | null;
}

export function MemoryVersions(props: MemoryVersionsProps): JSX.Element {
  const { versions, versionCount, comparison, compared, compare, titleOf, openSession } = props;
  const canShowOlder = props.online && !props.isReadingOlder;
  const { trans } = useUi();
  if (versions === null) {
    return <p className="onyx-Note">{trans.__('Reading…')}</p>;
  }
  if (versions.length === 0) {
    return <p className="onyx-Note">{trans.__('No versions yet: the file has never been changed.')}</p>;
  }
  return (
    <div className="onyx-Versions" data-onyx="memory-versions">
      <MemoryTimeline
        versions={versions}
        leftOut={versionCount - versions.length}
        showOlder={canShowOlder ? props.showOlder : null}
        selected={compared}
        titleOf={titleOf}
        select={compare}
        openSession={openSession}
      />
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

function Change(props: MemoryVersionsProps & { comparison: Comparison }): JSX.Element {
  const { comparison, online, isBusy, drawDiff, restore } = props;
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
            disabled={!online || isBusy || isSame}
            onClick={() => restore(version)}
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
