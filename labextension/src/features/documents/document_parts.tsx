/**
 * The documents' two places in the memory panel: their group in the list, and the detail of the chosen one.
 */
import { useEffect } from 'react';

import { DocumentDetail } from './document_detail';
import { DocumentGroup } from './document_group';
import { useSignals } from '../../shared/hooks';
import type { Documents } from './documents';

interface DocumentPartsProps {
  documents: Documents;
}

/** Keeps them current for as long as the panel exists, even while a search replaces their group. */
export function useDocuments(documents: Documents): void {
  useSignals(documents.changed);
  useEffect(() => {
    void documents.open();
    return () => documents.close();
  }, [documents]);
}

export function DocumentListPart(
  props: DocumentPartsProps & { choose: (itemId: string) => void }
): JSX.Element {
  const { documents, choose } = props;
  useSignals(documents.changed, documents.client.stateChanged);
  return (
    <DocumentGroup
      items={documents.items}
      uploads={documents.uploads.all}
      chosenId={documents.chosen?.itemId ?? null}
      problem={documents.problem}
      refusal={documents.chosen ? null : documents.refusal}
      dismissRefusal={() => documents.dismissRefusal()}
      online={documents.client.state === 'open'}
      choose={choose}
      remove={itemId => void documents.remove(itemId)}
      addFiles={files => documents.addFiles(files)}
      drop={uploadId => documents.uploads.drop(uploadId)}
    />
  );
}

/** null if none is chosen. */
export function DocumentDetailPart(
  props: DocumentPartsProps & { open: (path: string) => void }
): JSX.Element | null {
  const { documents, open } = props;
  useSignals(documents.changed, documents.client.stateChanged);
  const item = documents.chosen;
  if (!item) {
    return null;
  }
  return (
    <DocumentDetail
      item={item}
      refusal={documents.refusal}
      dismissRefusal={() => documents.dismissRefusal()}
      online={documents.client.state === 'open'}
      refresh={() => void documents.refresh(item.itemId)}
      stop={() => void documents.stop(item.itemId)}
      remove={() => void documents.remove(item.itemId).then(focusList)}
      open={item.kind === 'path' && !item.path.startsWith('/') ? () => open(item.path) : null}
      back={() => documents.choose(null)}
    />
  );
}

/** The focused button went away with its document. */
function focusList(): void {
  document.querySelector<HTMLElement>('[data-onyx=memory-panel] [data-onyx=document-add]')?.focus();
}
