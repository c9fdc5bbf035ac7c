/** The agent's memory as a panel of the main area: connects the models to the components. */
import { ReactWidget, refreshIcon } from '@jupyterlab/ui-components';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import { useEffect } from 'react';

import type { DrawDiff } from '../../shared/drawn_diff';
import { useSignals } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { MemoryDetail } from './memory_detail';
import { MemoryList } from './memory_list';
import { PanelFrame } from '../../shared/panel_frame';
import { ProblemNote } from '../../shared/problem_notes';
import { UiProvider, useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import type { Citation } from '../../shared/citations';
import type { Documents } from '../documents/documents';
import type { MemoryFile } from './memory_file';
import type { MemoryFiles } from './memory_files';
import type { MemorySearch } from './memory_search';
import type { SessionTitles } from '../sessions/session_titles';
import type { MemoryPassage } from '../../protocol/wire';
import { DocumentDrop } from '../documents/document_drop';
import { DocumentDetailPart, DocumentListPart, useDocuments } from '../documents/document_parts';

/** As in panel.css: a panel this narrow shows its list or its detail. */
const NARROW_PX = 560;

interface MemoryPanelProps {
  files: MemoryFiles;
  search: MemorySearch;
  file: MemoryFile;
  documents: Documents;
  titles: SessionTitles;
  ui: Ui;
  drawDiff: DrawDiff;
  /** Opens it in JupyterLab's own editor. */
  openEditor: (path: string, agentId: string | null) => void;
  /** Opens a document, or its folder in the file browser. */
  openDocument: (path: string) => void;
  /** null if this page has no chat. */
  openSession: ((sessionKey: string, entryId?: string) => void) | null;
}

export class MemoryPanel extends ReactWidget {
  constructor(private readonly props: MemoryPanelProps) {
    super();
    this.addClass('onyx-Panel');
    this.node.dataset.onyx = 'memory-panel';
    const { documents, file, search } = props;
    // Drops show up in the documents' group, which a search or, in a narrow panel, a detail hides.
    const showDocuments = () => {
      search.type('');
      if (this.node.clientWidth <= NARROW_PX) {
        file.open(null);
        documents.choose(null);
      }
    };
    // Only one thing is open at a time.
    file.changed.connect(() => file.place && documents.choose(null));
    this._drop = new DocumentDrop(this.node, {
      addFiles: files => {
        showDocuments();
        documents.addFiles(files);
      },
      addPaths: paths => {
        showDocuments();
        void documents.addPaths(paths);
      }
    });
  }

  /** Opens lines of a file in that agent's memory; null is the default agent. */
  open(citation: Citation, agentId: string | null): void {
    const { files, file } = this.props;
    files.choose(agentId);
    file.open({ ...citation, agentId: files.agentId });
  }

  /** The arguments with which the command that opens the panel shows the same after a reload. */
  restoreArgs(): ReadonlyPartialJSONObject {
    const { path, agentId } = this.props.file.place ?? {};
    return path === undefined ? {} : { path, agentId: agentId ?? null };
  }

  override dispose(): void {
    const { files, search, file, documents } = this.props;
    [files, search, file, documents, this._drop].forEach(one => one.dispose());
    super.dispose();
  }

  /** Files may have changed while the panel was hidden. */
  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    refreshAll(this.props);
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    void Promise.resolve(this.renderPromise).then(() =>
      this.node.querySelector<HTMLElement>('[data-onyx=memory-search]')?.focus()
    );
  }

  protected override render(): JSX.Element {
    return (
      <UiProvider value={this.props.ui}>
        <Panel {...this.props} />
      </UiProvider>
    );
  }

  private readonly _drop: DocumentDrop;
}

function refreshAll({
  files,
  file,
  documents
}: Pick<MemoryPanelProps, 'files' | 'file' | 'documents'>): void {
  void files.load();
  void file.load();
  void documents.load();
}

function Panel(props: MemoryPanelProps): JSX.Element {
  const { files, file, documents, ui } = props;
  const { trans } = ui;
  useSignals(files.changed, file.changed, files.client.stateChanged);
  useDocuments(documents);
  useEffect(() => {
    void files.open();
    return () => files.close();
  }, [files]);
  const isOffline = files.client.state === 'offline';
  const problem = isOffline
    ? trans.__('No connection to the server. What you see may be old.')
    : files.problem;
  const again = () => (isOffline ? files.client.connect() : void files.load());
  return (
    <PanelFrame
      title={trans.__('Memory')}
      about={trans.__('What Onyx remembers, in files that are yours.')}
      hook="memory-frame"
      showsDetail={file.place !== null || documents.chosen !== null}
      actions={
        <>
          <AgentPicker files={files} file={file} trans={trans} />
          <IconButton
            icon={refreshIcon}
            label={trans.__('Read again')}
            hook="memory-refresh"
            onClick={() => refreshAll(props)}
          />
        </>
      }
      notice={<ProblemNote problem={problem} again={again} hook="memory-list-problem" />}
      list={<ListPart {...props} />}
      detail={<DetailPart {...props} />}
    />
  );
}

/** Only if there is more than one agent. */
function AgentPicker(
  props: Pick<MemoryPanelProps, 'files' | 'file'> & { trans: Ui['trans'] }
): JSX.Element | null {
  const { files, file, trans } = props;
  if (files.agents.length < 2) {
    return null;
  }
  const standard = files.agents.find(agent => agent.default)?.id ?? '';
  return (
    <select
      className="onyx-Input onyx-Memory-agent"
      data-onyx="memory-agent"
      aria-label={trans.__('Agent whose memory is shown')}
      value={files.agentId ?? standard}
      onChange={event => {
        file.open(null);
        files.choose(event.target.value);
      }}
    >
      {files.agents.map(agent => (
        <option key={agent.id} value={agent.id}>
          {agent.name}
        </option>
      ))}
    </select>
  );
}

function ListPart({ files, search, file, documents, openSession }: MemoryPanelProps): JSX.Element {
  useSignals(files.changed, search.changed, file.changed);
  // Changed files may now match, or no longer match.
  useEffect(() => {
    const again = () => void search.load();
    files.changed.connect(again);
    return () => void files.changed.disconnect(again);
  }, [files, search]);
  const openPassage = (passage: MemoryPassage) => {
    const { path, startLine, endLine } = passage;
    file.open({ path, agentId: files.agentId, lines: [startLine, endLine] });
  };
  return (
    <MemoryList
      {...{ files, search }}
      place={file.place}
      openFile={path => file.open({ path, agentId: files.agentId })}
      openPassage={openPassage}
      documents={
        <DocumentListPart
          documents={documents}
          choose={itemId => {
            file.open(null);
            documents.choose(itemId);
          }}
        />
      }
      openConversation={openSession && (({ sessionKey, match }) => openSession(sessionKey, match?.entryId))}
    />
  );
}

function DetailPart(props: MemoryPanelProps): JSX.Element {
  const { files, file, documents, titles, drawDiff, openEditor, openSession } = props;
  useSignals(files.changed, file.changed, documents.changed, titles.changed, files.client.stateChanged);
  const { place } = file;
  if (documents.chosen) {
    return <DocumentDetailPart documents={documents} open={props.openDocument} />;
  }
  if (!place) {
    return <MemoryEmpty />;
  }
  const info = files.file(place.path);
  return (
    <MemoryDetail
      {...{ file, place, info, drawDiff, openSession }}
      online={files.client.state === 'open'}
      titleOf={key => titles.of(key)}
      openEditor={info?.deleted ? null : () => openEditor(place.path, place.agentId)}
    />
  );
}

/** What memory is, and how something gets into it. */
function MemoryEmpty(): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Panel-empty" data-onyx="memory-empty">
      <p>{trans.__('Choose a file to read it, or search for something you said.')}</p>
      <p>
        {trans.__(
          'Tell Onyx “remember that …” and it appears here. Much of what you say is remembered without asking.'
        )}
      </p>
      <p>
        {trans.__(
          'Memory is Markdown, and it is yours: edit it anywhere, and Onyx picks up the change a moment later. Every earlier version is kept and can be restored.'
        )}
      </p>
    </div>
  );
}
