/**
 * The instructions for Onyx in the server's root, kept current from the server, and the user's answer to
 * them.
 */
import type { EventFrame } from '../../protocol/frames';
import type { Methods, ProjectFile } from '../../protocol/wire';
import { LiveList } from '../../shared/live_list';

/** The server looks at the files when it builds a prompt; after a turn they may have changed. */
const REFRESH_EVENTS: ReadonlySet<string> = new Set([
  'project.updated',
  'chat.final',
  'chat.error',
  'chat.aborted'
]);

export class ProjectInstructions extends LiveList {
  /** null until read. */
  get files(): readonly ProjectFile[] | null {
    return this._files;
  }

  /** Those not yet answered: they are not used. */
  get waiting(): readonly ProjectFile[] {
    return this._files?.filter(({ state }) => state === 'new' || state === 'changed') ?? [];
  }

  /**
   * The file guides Onyx as long as it stays what is shown here; if it has changed already, the request is
   * refused.
   */
  trust(file: ProjectFile): Promise<void> {
    return this._answer('project.trust', file);
  }

  /** It is not used, nor asked about again while it stays unchanged. */
  decline(file: ProjectFile): Promise<void> {
    return this._answer('project.decline', file);
  }

  protected async read(): Promise<() => void> {
    const { files } = await this.client.request('project.files', {});
    return () => {
      this._files = files;
    };
  }

  protected isOutdatedBy(frame: EventFrame): boolean {
    return REFRESH_EVENTS.has(frame.event);
  }

  /** Whatever the outcome, the files are then as the server has them. */
  private async _answer(method: keyof Methods & `project.${string}`, file: ProjectFile): Promise<void> {
    const { path, digest } = file;
    await this.attempt(async () => {
      await this.client.request(method, { path, digest });
    });
    await this.load();
  }

  private _files: readonly ProjectFile[] | null = null;
}
