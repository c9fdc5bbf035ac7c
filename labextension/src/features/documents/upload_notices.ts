/**
 * Uploads while the panel is closed: reports failures, and asks before leaving a page that would lose some.
 */
import type { ILabStatus } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { refusal } from './document_words';
import type { Upload, Uploads } from './uploads';

interface UploadsHost {
  /** Whether the uploads themselves are visible. */
  isShown: () => boolean;
  show: () => void;
  status: ILabStatus | null;
  trans: TranslationBundle;
}

export function watchUploads(uploads: Uploads, host: UploadsHost): void {
  let known = 0;
  let notice: string | null = null;
  let unsaved: IDisposable | null = null;
  uploads.changed.connect(() => {
    const { refused } = uploads;
    if (refused.length === 0 && notice !== null) {
      Notification.dismiss(notice);
      notice = null;
    }
    if (refused.length > known && !host.isShown()) {
      notice = tell(notice, refused, host);
    }
    known = refused.length;
    if (!uploads.isInProgress) {
      unsaved?.dispose();
    }
    unsaved = uploads.isInProgress ? (unsaved ?? host.status?.setDirty() ?? null) : null;
  });
}

/** One notification for all of them, shown again even if it was closed before. */
function tell(notice: string | null, refused: readonly Upload[], { show, trans }: UploadsHost): string {
  const [{ name, refused: why }] = refused;
  const message =
    refused.length === 1 && why
      ? trans.__('Onyx cannot add “%1”. %2', name, refusal(why, trans))
      : trans.__('%1 files were not added to Onyx’s knowledge.', refused.length);
  const actions = [{ label: trans.__('Show'), callback: show }];
  const isThere = notice !== null && Notification.update({ id: notice, message, actions });
  return isThere && notice ? notice : Notification.error(message, { autoClose: false, actions });
}
