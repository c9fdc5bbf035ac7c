/** The versions of a memory file, newest first: when, by whom, in which conversation. */
import { formatRelative } from '../../shared/relative_time';
import type { MemoryVersionInfo } from '../../protocol/wire';
import { moveFocus } from '../../shared/move_focus';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface MemoryTimelineProps {
  versions: readonly MemoryVersionInfo[];
  /** Older ones that are kept but not listed. */
  leftOut: number;
  /** null while they cannot be requested. */
  showOlder: (() => void) | null;
  selected: number | null;
  titleOf: (sessionKey: string) => string | null;
  select: (version: number) => void;
  openSession: ((sessionKey: string) => void) | null;
}

export function MemoryTimeline(props: MemoryTimelineProps): JSX.Element {
  const { versions, leftOut, showOlder } = props;
  const { trans } = useUi();
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
            aria-disabled={showOlder === null}
            onClick={() => showOlder?.()}
          >
            {trans.__('Show older')}
          </button>
          <span>{trans._n('%1 more', '%1 more', leftOut)}</span>
        </div>
      )}
    </div>
  );
}

function Entry(props: MemoryTimelineProps & { version: MemoryVersionInfo }): JSX.Element {
  const { version, selected, select, titleOf, openSession } = props;
  const { trans } = useUi();
  const { sessionKey } = version;
  return (
    <li data-author={version.author} data-current={version.current || undefined}>
      <button
        type="button"
        className="onyx-Row"
        data-onyx="memory-version"
        data-version={version.version}
        aria-current={version.version === selected}
        title={new Date(version.at).toLocaleString()}
        onClick={() => select(version.version)}
      >
        <span className="onyx-Timeline-who">{authorName(version.author, trans)}</span>
        <span className="onyx-Row-state">{formatRelative(version.at)}</span>
        <span className="onyx-Timeline-what">{formatState(version, trans)}</span>
      </button>
      {sessionKey && openSession && (
        <button
          type="button"
          className="onyx-Link onyx-Timeline-session"
          data-onyx="memory-session"
          title={trans.__('Open the conversation')}
          onClick={() => openSession(sessionKey)}
        >
          {titleOf(sessionKey) ?? trans.__('Conversation')}
        </button>
      )}
    </li>
  );
}

export function authorName(author: MemoryVersionInfo['author'], trans: Ui['trans']): string {
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
