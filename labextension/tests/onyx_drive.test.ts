// @vitest-environment jsdom
import { ServerConnection } from '@jupyterlab/services';
import { describe, expect, it } from 'vitest';

import { OnyxDrive, browserPath } from '../src/features/workspace/onyx_drive';

describe('a path opened in JupyterLab', () => {
  it('resolves to the workspace of the agent that wrote it', () => {
    expect(browserPath('onyx:notes/a.md', 'main')).toBe('Onyx:workspace/notes/a.md');
    expect(browserPath('onyx:/a.md', undefined)).toBe('Onyx:workspace/a.md');
    expect(browserPath('onyx:a.md', 'research')).toBe('Onyx:workspace-research/a.md');
  });

  it('is unchanged for files of the server and of the drive', () => {
    expect(browserPath('data/a.csv', 'main')).toBe('data/a.csv');
    expect(browserPath('Onyx:runs/a.ipynb', 'main')).toBe('Onyx:runs/a.ipynb');
  });

  it('is empty for files outside the file browser', () => {
    expect(['', 'onyx:', '/etc/passwd'].map(path => browserPath(path, 'main'))).toEqual([null, null, null]);
  });
});

describe('a download', () => {
  it('uses the drive below a Hub’s base URL', async () => {
    const settings = ServerConnection.makeSettings({ baseUrl: 'https://hub.example/user/ada/' });
    document.cookie = '_xsrf=abc';
    const url = await new OnyxDrive(settings).getDownloadUrl('workspace/a b.png');
    expect(url).toBe('https://hub.example/user/ada/onyx/files/workspace/a%20b.png?_xsrf=abc');
  });
});
