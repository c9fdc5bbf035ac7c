/** Onyx's own files as a drive of JupyterLab's contents, and the format of their paths. */
import { URLExt } from '@jupyterlab/coreutils';
import { Drive } from '@jupyterlab/services';
import type { ServerConnection } from '@jupyterlab/services';

export const DRIVE_NAME = 'Onyx';
const CONTENTS = 'onyx/api/contents';
const FILES = 'onyx/files';
const AGENTS_OWN = 'onyx:';
const MAIN_AGENT = 'main';

export class OnyxDrive extends Drive {
  constructor(serverSettings: ServerConnection.ISettings) {
    super({ name: DRIVE_NAME, apiEndpoint: CONTENTS, serverSettings });
  }

  /** As for the server's own files, but from the drive's address. */
  override async getDownloadUrl(localPath: string): Promise<string> {
    const url = new URL(await super.getDownloadUrl(localPath));
    const { baseUrl } = this.serverSettings;
    const own = new URL(URLExt.join(baseUrl, FILES, URLExt.encodeParts(localPath)));
    own.search = url.search;
    return own.toString();
  }
}

/**
 * The path with which JupyterLab opens a tool's `path`: the prefix `onyx:` means that agent's workspace. null
 * if it is not a path of the file browser.
 */
export function browserPath(path: string, agentId: string | null | undefined): string | null {
  if (path.startsWith(AGENTS_OWN)) {
    const workspace = !agentId || agentId === MAIN_AGENT ? 'workspace' : `workspace-${agentId}`;
    const rest = path.slice(AGENTS_OWN.length).replace(/^\/+/, '');
    return rest === '' ? null : `${DRIVE_NAME}:${workspace}/${rest}`;
  }
  return path === '' || path.startsWith('/') ? null : path;
}

/**
 * A memory file's path as a tool would write it, so that it can be opened: `shared/` is a folder of the
 * drive.
 */
export function memoryDrivePath(path: string, agentId: string | null): string {
  const own = browserPath(`${AGENTS_OWN}${path}`, agentId) ?? path;
  return path.startsWith('shared/') ? `${DRIVE_NAME}:${path}` : own;
}
