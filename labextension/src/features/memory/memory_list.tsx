/** The memory files by purpose, or the results of a search; arrow keys move through either. */
import type { ReactNode } from 'react';

import type { MemoryPlace } from '../../shared/citations';
import type { MemoryFiles } from './memory_files';
import type { MemorySearch } from './memory_search';
import { fileGroups, fileTitle, placeName, formatSize } from './memory_text';
import type { FileGroup } from './memory_text';
import { formatRelative } from '../../shared/relative_time';
import type { MemoryFileInfo, MemoryPassage, SessionInfo } from '../../protocol/wire';
import { MemoryFilterRow } from './memory_filter';
import { MemoryConversations, MemoryResult } from './memory_results';
import { MemoryStatusLine } from './memory_status';
import { Finder } from '../../shared/finder';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { useOpenFirst } from '../../shared/use_opens_first';

interface MemoryListProps {
  files: Pick<MemoryFiles, 'files' | 'status'>;
  search: MemorySearch;
  place: MemoryPlace | null;
  openFile: (path: string) => void;
  openPassage: (passage: MemoryPassage) => void;
  /** null if this page has no chat. */
  openConversation: ((session: SessionInfo) => void) | null;
  /** Below the files: what else Onyx finds. Search results take their place. */
  documents?: ReactNode;
}

const NOTHING: readonly MemoryPassage[] = [];
const ROWS = ['memory-file', 'memory-result', 'memory-conversation', 'document']
  .map(name => `[data-onyx=${name}]`)
  .join();

export function MemoryList(props: MemoryListProps): JSX.Element {
  const { search, openPassage } = props;
  const { query, searched, failed } = search;
  const { trans } = useUi();
  const asked = query.trim();
  const openFirst = useOpenFirst({
    ...{ query: asked, searched, failed, open: openPassage },
    results: search.results ?? NOTHING
  });
  return (
    <Finder
      hook="memory-search"
      label={trans.__('Search memory')}
      rows={ROWS}
      query={query}
      search={next => {
        openFirst.cancel();
        search.type(next);
      }}
      onBlur={openFirst.cancel}
      onKeyDown={event => {
        if (event.key === 'Escape' && query !== '' && !event.nativeEvent.isComposing) {
          event.preventDefault();
          openFirst.cancel();
          search.type('');
        }
        if (asked !== '') {
          openFirst.onKey(event);
        }
      }}
    >
      {asked !== '' && <MemoryFilterRow search={search} />}
      {asked !== '' ? <Results {...props} /> : <Files {...props} />}
      {asked === '' && props.documents}
      <MemoryStatusLine status={props.files.status} />
    </Finder>
  );
}

function Results(props: MemoryListProps): JSX.Element {
  const { search, place, openPassage, openConversation } = props;
  const { query, results, note, problem, conversations, filter } = search;
  const hasSaid = openConversation !== null && conversations.length > 0;
  const { trans } = useUi();
  return (
    <div className="onyx-Rows" data-onyx="memory-results">
      <div className="onyx-Note" role="status">
        {problem ?? (results === null ? trans.__('Searching…') : note)}
        {!problem && results?.length === 0 && !(hasSaid && filter.where === 'conversations') && (
          <span>{hasSaid ? trans.__('Nothing was noted.') : trans.__('Nothing found.')}</span>
        )}
      </div>
      {(results ?? NOTHING).map((passage, index) => (
        <MemoryResult
          key={`${placeName(passage)}:${index}`}
          passage={passage}
          query={query}
          isSelected={isAt(place, passage)}
          open={() => openPassage(passage)}
        />
      ))}
      {openConversation && (
        <MemoryConversations conversations={conversations} query={query} open={openConversation} />
      )}
    </div>
  );
}

function isAt(place: MemoryPlace | null, { path, startLine, endLine }: MemoryPassage): boolean {
  return place?.path === path && place.lines?.[0] === startLine && place.lines[1] === endLine;
}

function Files({ files: { files }, place, openFile }: MemoryListProps): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Rows" data-onyx="memory-files">
      {files === null && <div className="onyx-Note">{trans.__('Reading…')}</div>}
      {fileGroups(files ?? []).map(([group, found]) => (
        <section key={group} aria-label={groupName(group, trans)}>
          <h3>{groupName(group, trans)}</h3>
          {found.map(file => (
            <FileRow key={file.path} file={file} isSelected={file.path === place?.path} open={openFile} />
          ))}
        </section>
      ))}
    </div>
  );
}

function FileRow(props: {
  file: MemoryFileInfo;
  isSelected: boolean;
  open: (path: string) => void;
}): JSX.Element {
  const { file, isSelected, open } = props;
  const { trans } = useUi();
  const changed = file.changedAt ? formatRelative(file.changedAt) : '';
  return (
    <button
      type="button"
      className="onyx-Row"
      data-onyx="memory-file"
      data-path={file.path}
      data-state={file.problem ? 'broken' : undefined}
      aria-current={isSelected}
      title={file.problem ? `${file.path}\n${file.problem}` : file.path}
      onClick={() => open(file.path)}
    >
      <span className="onyx-Row-name">{fileTitle(file.path, trans)}</span>
      <span className="onyx-Row-state">
        {file.problem ? trans.__('unreadable') : file.deleted ? '' : formatSize(file.sizeBytes)}
      </span>
      <span className="onyx-Row-about">
        {file.deleted
          ? trans._n('%1 version is kept', '%1 versions are kept', file.versions)
          : file.problem || (changed && trans.__('changed %1', changed))}
      </span>
    </button>
  );
}

function groupName(group: FileGroup, trans: Ui['trans']): string {
  const names: Record<FileGroup, string> = {
    remembered: trans.__('Long-term'),
    days: trans.__('Days'),
    shared: trans.__('All agents'),
    instructions: trans.__('How the agent works'),
    deleted: trans.__('Deleted')
  };
  return names[group];
}
