import type { ILabStatus } from '@jupyterlab/application';
import { nullTranslator } from '@jupyterlab/translation';
import { DisposableDelegate } from '@lumino/disposable';
import { beforeEach, expect, it, vi } from 'vitest';

import { Uploads } from '../src/features/documents/uploads';
import { watchUploads } from '../src/features/documents/upload_notices';
import { settle } from './peer';

const { notices } = vi.hoisted(() => ({ notices: new Map<string, string>() }));
vi.mock('@jupyterlab/apputils', () => ({
  Notification: {
    error: (message: string) => (notices.set('one', message), 'one'),
    update: ({ id, message }: { id: string; message: string }) => notices.has(id) && notices.set(id, message),
    dismiss: (id: string) => notices.delete(id)
  }
}));

const file = (name: string) => ({ file: new File(['x'], name), isFolder: false });
let isShown: boolean;
let unsaved: number;
let uploads: Uploads;
let fail: (reason: string) => Promise<void>;

beforeEach(() => {
  notices.clear();
  [isShown, unsaved] = [false, 0];
  let refuse: (error: Error) => void;
  uploads = new Uploads(() => new Promise((_, no) => (refuse = no)));
  fail = reason => (refuse(new Error(reason)), settle());
  const setDirty = () => ((unsaved += 1), new DisposableDelegate(() => (unsaved -= 1)));
  const status = { setDirty } as unknown as ILabStatus;
  const trans = nullTranslator.load('onyx_jupyter');
  watchUploads(uploads, { isShown: () => isShown, show: vi.fn(), status, trans });
});

it('collects unseen failures in one notice until dismissed', async () => {
  uploads.add([file('a'), file('b')], null);
  await settle();
  await fail('The disk is full.');
  expect([...notices.values()]).toEqual(['Onyx cannot add “a”. The disk is full.']);
  await fail('The disk is full.');
  expect([...notices.values()]).toEqual(['2 files were not added to Onyx’s knowledge.']);
  uploads.refused.forEach(({ id }) => uploads.drop(id));
  expect([...notices.values()]).toEqual([]);
});

it('shows no notice if the panel is visible', async () => {
  isShown = true;
  uploads.add([file('a')], null);
  await settle();
  await fail('The disk is full.');
  expect([...notices.values()]).toEqual([]);
});

it('makes JupyterLab confirm leaving while a file is being uploaded', async () => {
  uploads.add([file('a'), file('b')], null);
  await settle();
  expect(unsaved).toBe(1);
  await fail('Away.');
  expect(unsaved).toBe(1);
  await fail('Away.');
  expect(unsaved).toBe(0);
});
