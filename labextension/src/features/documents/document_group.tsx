/**
 * The documents in the memory panel's list: each with its state, the way to add files, and uploads in
 * progress.
 */
import { closeIcon, fileUploadIcon } from '@jupyterlab/ui-components';
import { useRef } from 'react';

import type { DroppedFile, Upload } from './uploads';
import type { KnowledgeItemInfo } from '../../protocol/wire';
import { isInProgress, origin, refusal, shortState } from './document_words';
import { IconButton } from '../../shared/icon_button';
import { RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';

export interface DocumentGroupProps {
  /** null while they are being read. */
  items: readonly KnowledgeItemInfo[] | null;
  uploads: readonly Upload[];
  chosenId: string | null;
  /** Why there is no list, or not the newest one. */
  problem: string | null;
  /** Why the last action failed. */
  refusal: string | null;
  dismissRefusal: () => void;
  online: boolean;
  choose: (itemId: string) => void;
  remove: (itemId: string) => void;
  addFiles: (files: readonly DroppedFile[]) => void;
  /** Stops an upload, or dismisses its message. */
  drop: (uploadId: number) => void;
}

export function DocumentGroup(props: DocumentGroupProps): JSX.Element {
  const { items, uploads, chosenId, problem, online } = props;
  const { trans } = useUi();
  const input = useRef<HTMLInputElement>(null);
  const pick = () => input.current?.click();
  const isEmpty = items?.length === 0 && uploads.length === 0;
  return (
    <section className="onyx-Documents" aria-label={trans.__('Documents')} data-onyx="documents">
      <header className="onyx-Documents-head">
        <h3>{trans.__('Documents')}</h3>
        <IconButton
          icon={fileUploadIcon}
          label={trans.__('Add files to Onyx’s knowledge')}
          hook="document-add"
          disabled={!online}
          onClick={pick}
        />
        <input
          ref={input}
          type="file"
          multiple
          hidden
          data-onyx="document-files"
          onChange={event => {
            props.addFiles([...(event.target.files ?? [])].map(file => ({ file, isFolder: false })));
            event.target.value = ''; // so that the same file can be chosen again
          }}
        />
      </header>
      {problem && (
        <div className="onyx-Documents-problem" role="alert" data-onyx="documents-problem">
          {problem}
        </div>
      )}
      <RefusalNote reason={props.refusal} dismiss={props.dismissRefusal} hook="documents-refusal" />
      {items === null && !problem && <div className="onyx-Note">{trans.__('Reading…')}</div>}
      {isEmpty && <NoDocuments pick={pick} online={online} />}
      <div className="onyx-Documents-items">
        {[...uploads].reverse().map(upload => (
          <UploadRow key={upload.id} upload={upload} drop={props.drop} />
        ))}
        {(items ?? []).map(item => (
          <DocumentRow key={item.itemId} item={item} isChosen={item.itemId === chosenId} {...props} />
        ))}
      </div>
      <div className="onyx-Documents-drop" aria-hidden="true">
        {trans.__('Drop to add')}
      </div>
    </section>
  );
}

function NoDocuments({ pick, online }: { pick: () => void; online: boolean }): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Documents-empty" data-onyx="documents-empty">
      <p>{trans.__('Papers, manuals, notebooks, tables: found in every conversation, with page or line.')}</p>
      <p>
        {trans.__('Drop files here, or')}{' '}
        <button type="button" className="onyx-Link" disabled={!online} onClick={pick}>
          {trans.__('choose some')}
        </button>
      </p>
      <p>{trans.__('To add a folder, right-click it in the file browser.')}</p>
    </div>
  );
}

function DocumentRow(
  props: { item: KnowledgeItemInfo; isChosen: boolean } & Pick<DocumentGroupProps, 'choose' | 'remove'>
): JSX.Element {
  const { item, isChosen, choose, remove } = props;
  const { trans } = useUi();
  const about = origin(item, trans);
  return (
    <button
      type="button"
      className="onyx-Row onyx-Document"
      data-onyx="document"
      data-document={item.path}
      data-state={item.state}
      data-problems={item.problemCount || undefined}
      aria-current={isChosen}
      title={`${item.title}\n${about}`}
      onClick={() => choose(item.itemId)}
      onKeyDown={event => {
        if (event.key === 'Delete') {
          event.preventDefault();
          focusNeighbour(event.currentTarget);
          remove(item.itemId);
        }
      }}
    >
      <span className="onyx-Row-name">{item.title}</span>
      <span className="onyx-Row-state">{shortState(item, trans)}</span>
      <span className="onyx-Row-about">{about}</span>
      {isInProgress(item) && item.total > 1 && (
        <progress
          className="onyx-Bar"
          value={item.done}
          max={item.total}
          aria-label={trans.__('Reading %1', item.title)}
        />
      )}
    </button>
  );
}

/** After a row is removed with the keyboard, focuses the one beside it. */
function focusNeighbour(row: Element): void {
  const beside = row.nextElementSibling ?? row.previousElementSibling;
  const add = row.closest('section')?.querySelector<HTMLElement>('[data-onyx=document-add]');
  const next = beside instanceof HTMLButtonElement ? beside : beside?.querySelector('button');
  (next ?? add)?.focus();
}

function UploadRow({ upload, drop }: { upload: Upload; drop: (uploadId: number) => void }): JSX.Element {
  const { name, refused, isSending } = upload;
  const { trans } = useUi();
  const row = useRef<HTMLDivElement>(null);
  const cross = refused
    ? { label: trans.__('Dismiss'), hook: 'document-dismiss' }
    : { label: trans.__('Do not add “%1”', name), hook: 'document-stop-upload' };
  return (
    <div
      ref={row}
      className="onyx-Document-upload"
      role="status"
      data-onyx="document-upload"
      data-state={refused ? 'refused' : isSending ? 'sending' : 'waiting'}
    >
      <span className="onyx-Row-name" title={name}>
        {name}
      </span>
      <span className="onyx-Row-state">
        {refused ? trans.__('not added') : isSending ? trans.__('uploading') : trans.__('waiting')}
      </span>
      <IconButton
        icon={closeIcon}
        {...cross}
        onClick={() => {
          if (row.current) {
            focusNeighbour(row.current);
          }
          drop(upload.id);
        }}
      />
      {refused && <span className="onyx-Document-reason">{refusal(refused, trans)}</span>}
    </div>
  );
}
