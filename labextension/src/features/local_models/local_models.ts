/** The models that can run on this machine: which are there, and the progress of downloads. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { EventFrame } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { LocalModelInfo } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

export class LocalModels extends LiveList {
  /** `choicesChanged` is called when a model becomes available or unavailable. */
  constructor(
    client: SocketClient,
    private readonly choicesChanged: () => void
  ) {
    super(client);
  }

  /** Best first; null until read. */
  get models(): readonly LocalModelInfo[] | null {
    return this._models;
  }

  /** The one to offer; null if a model is already there, or none is known yet. */
  get offered(): LocalModelInfo | null {
    const models = this._models ?? [];
    if (models.some(model => model.state === 'ready')) {
      return null;
    }
    const begun = models.find(model => model.state === 'fetching' || model.state === 'paused');
    return begun ?? models.find(model => model.recommended) ?? null;
  }

  /** Starts or resumes the download. */
  fetch(model: LocalModelInfo): Promise<void> {
    return this.attempt(async () =>
      this._apply(await this.client.request('local_models.fetch', { id: model.id }))
    );
  }

  pause(model: LocalModelInfo): Promise<void> {
    return this.attempt(async () =>
      this._apply(await this.client.request('local_models.pause', { id: model.id }))
    );
  }

  /** Removes its file, or the downloaded part. The user was shown whose file it is. */
  remove(model: LocalModelInfo): Promise<void> {
    return this.attempt(async () => {
      const { id, shared } = model;
      this._apply(await this.client.request('local_models.remove', { id, shared }, 60_000));
    });
  }

  protected async read(): Promise<() => void> {
    const { models } = await this.client.request('local_models.list', {});
    return () => {
      this._models = models;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    if (frame.event === 'local_models.progress') {
      this._apply(frame.data as LocalModelInfo);
      this.emit();
    }
    return false;
  }

  private _apply(news: LocalModelInfo): void {
    this.invalidatePending();
    const before = this._models?.find(model => model.id === news.id);
    this._models = this._models?.map(model => (model.id === news.id ? news : model)) ?? null;
    if (before && (before.state === 'ready') !== (news.state === 'ready')) {
      this.choicesChanged();
    }
  }

  private _models: readonly LocalModelInfo[] | null = null;
}

/** A readable size: `491 MB`, `1.12 GB`. */
export function formatSize(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : `${Math.round(bytes / 1e6)} MB`;
}

/** The progress in whole percent; 100 only when complete. */
export function percent({ doneBytes, bytes }: LocalModelInfo): number {
  return Math.floor((100 * doneBytes) / bytes);
}

/** The state of a model's file, in one line. */
export function formatState(model: LocalModelInfo, trans: TranslationBundle): string {
  const { state, source, fetcher, doneBytes, bytes } = model;
  const far = trans.__('%1 % · %2 of %3', percent(model), formatSize(doneBytes), formatSize(bytes));
  switch (state) {
    case 'ready':
      return model.shared ? trans.__('Ready, for everyone on this installation') : trans.__('Ready');
    case 'missing':
      return model.fitsMemory
        ? trans.__('Not on this machine')
        : trans.__('Not on this machine. Needs %1 of free memory', formatSize(model.leastMemory));
    case 'failed':
      return trans.__('Download failed');
    case 'paused':
      return trans.__('Paused at %1', far);
    case 'fetching':
      if (fetcher) {
        return trans.__('%1, downloaded by %2', far, fetcher);
      }
      if (doneBytes === bytes) {
        return trans.__('Checking the file…');
      }
      return source ? trans.__('%1 from %2', far, source) : far;
  }
}
