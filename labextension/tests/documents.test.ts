import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Documents } from '../src/features/documents/documents';
import { Uploads } from '../src/features/documents/uploads';
import type { KnowledgeItemInfo } from '../src/protocol/wire';
import { DocumentDrop } from '../src/features/documents/document_drop';
import { Peer, Refusal, settle } from './peer';

const item = (itemId: string, more: Partial<KnowledgeItemInfo> = {}): KnowledgeItemInfo => ({
  ...{ itemId, kind: 'upload', path: `${itemId}.pdf`, title: itemId, addedAt: '2026-11-22T10:00:00Z' },
  ...{ state: 'done', done: 1, total: 1, chunks: 3, problemCount: 0 },
  ...more
});
const file = (name: string, size = 1) => ({ file: new File(['x'.repeat(size)], name), isFolder: false });

let peer: Peer;
let documents: Documents;
let uploads: Uploads;
let sent: Array<{ name: string; answer: (item: KnowledgeItemInfo) => void; fail: (error: Error) => void }>;
const ids = () => documents.items?.map(one => `${one.itemId} ${one.state}`);
const goingUp = () => uploads.all.map(({ name, refused }) => [name, refused]);
const idOf = (name: string) => uploads.all.find(one => one.name === name)!.id;

beforeEach(async () => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'knowledge.list': { items: [item('old'), item('new')], maxUploadBytes: 5 } };
  peer.connect();
  sent = [];
  uploads = new Uploads(
    ({ name }, signal) =>
      new Promise((answer, fail) => {
        sent.push({ name, answer, fail });
        signal.addEventListener('abort', () => fail(new Error('It was stopped.')));
      })
  );
  documents = new Documents(peer.client, uploads);
  await documents.open();
});
afterEach(() => {
  documents.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('the documents', () => {
  it('are listed newest first and follow progress while visible', async () => {
    expect(ids()).toEqual(['new done', 'old done']);
    peer.emit('knowledge.progress', item('old', { state: 'reading' }));
    peer.emit('knowledge.progress', item('added', { state: 'waiting' }));
    expect(ids()).toEqual(['added waiting', 'new done', 'old reading']);
    documents.close();
    peer.emit('knowledge.progress', item('old', { state: 'done' }));
    expect(ids()).toEqual(['added waiting', 'new done', 'old reading']);
  });

  it('are reloaded after a removal elsewhere and after a reconnect', async () => {
    peer.results['knowledge.list'] = { items: [item('new')], maxUploadBytes: 5 };
    peer.emit('knowledge.updated', {});
    await vi.advanceTimersByTimeAsync(1000);
    expect(ids()).toEqual(['new done']);
    peer.lose();
    peer.results['knowledge.list'] = { items: [item('old')], maxUploadBytes: 5 };
    await peer.comeBack();
    expect(ids()).toEqual(['old done']);
  });

  it('use an event that arrives while the list is loading', async () => {
    peer.results['knowledge.list'] = () => {
      peer.emit('knowledge.progress', item('old', { state: 'reading' }));
      return { items: [item('old', { state: 'waiting' })], maxUploadBytes: 5 };
    };
    await documents.load();
    expect(ids()).toEqual(['old reading']);
  });

  it('can be restored after removal, and a removed one is deselected', async () => {
    peer.results['knowledge.remove'] = { ok: true };
    peer.results['knowledge.restore'] = item('old', { state: 'waiting' });
    const removed = vi.fn();
    documents.removed.connect((_, one) => removed(one));
    documents.choose('old');
    await documents.remove('old');
    expect([ids(), documents.chosen]).toEqual([['new done'], null]);
    await removed.mock.lastCall![0].undo();
    expect(peer.askedFor('knowledge.restore')).toEqual([{ itemId: 'old' }]);
    expect(ids()).toEqual(['old waiting', 'new done']);
  });

  it('report a failed action and stay', async () => {
    peer.results['knowledge.remove'] = () => new Refusal(-32000, 'The index cannot be written.');
    await documents.remove('old');
    expect([ids(), documents.refusal]).toEqual([['new done', 'old done'], 'The index cannot be written.']);
    peer.results['knowledge.refresh'] = { items: [item('old', { state: 'waiting' })] };
    await documents.refresh('old');
    expect([ids(), documents.refusal]).toEqual([['new done', 'old waiting'], null]);
  });

  it('keep reporting it until dismissed, however often the list is reloaded', async () => {
    peer.results['knowledge.remove'] = () => new Refusal(-32000, 'The index cannot be written.');
    await documents.remove('old');
    peer.emit('knowledge.updated', {});
    await vi.advanceTimersByTimeAsync(1000);
    peer.lose();
    await peer.comeBack();
    await documents.load();
    expect([documents.refusal, documents.problem]).toEqual(['The index cannot be written.', null]);
    documents.dismissRefusal();
    expect(documents.refusal).toBeNull();
  });

  it('report each path that could not be added', async () => {
    peer.results['knowledge.add'] = ({ path }: { path: string }) =>
      path === 'fine' ? item('fine') : new Refusal(-32000, `There is no ${path}.`);
    await documents.addPaths(['a', 'fine', 'b', 'c']);
    await documents.load();
    expect(goingUp()).toEqual(['a', 'b', 'c'].map(path => [path, { reason: `There is no ${path}.` }]));
    peer.results['knowledge.add'] = item('a');
    uploads.drop(idOf('b'));
    await documents.addPaths(['a']);
    expect(goingUp().map(([name]) => name)).toEqual(['a', 'c']);
  });
});

describe('uploads', () => {
  it('are sent one after the other and then listed', async () => {
    documents.addFiles([file('a'), file('b')]);
    await settle();
    expect(sent.map(one => one.name)).toEqual(['a']);
    sent[0].answer(item('a', { state: 'waiting' }));
    await settle();
    expect(sent.map(one => one.name)).toEqual(['a', 'b']);
    expect([goingUp(), ids()]).toEqual([[['b', null]], ['a waiting', 'new done', 'old done']]);
  });

  it('report a rejected file until dismissed, and others continue', async () => {
    documents.addFiles([file('a'), file('b')]);
    await settle();
    sent[0].fail(new Error('Files of type .a are not read.'));
    await settle();
    sent[1].answer(item('b'));
    await settle();
    expect(goingUp()).toEqual([['a', { reason: 'Files of type .a are not read.' }]]);
    uploads.drop(idOf('a'));
    expect(goingUp()).toEqual([]);
  });

  it('report a lost connection in our words', async () => {
    documents.addFiles([file('a')]);
    await settle();
    sent[0].fail(new TypeError('Failed to fetch'));
    await settle();
    expect(goingUp()).toEqual([['a', 'lost']]);
  });

  it('are not sent if too large or folders', async () => {
    documents.addFiles([file('large', 6), { ...file('folder'), isFolder: true }, file('fits', 5)]);
    await settle();
    expect(goingUp()).toEqual([
      ['large', { maxBytes: 5 }],
      ['folder', 'folder'],
      ['fits', null]
    ]);
    expect(sent.map(one => one.name)).toEqual(['fits']);
  });

  it('continue when the panel is closed, and appear when reopened', async () => {
    documents.addFiles([file('a'), file('b'), file('c')]);
    await settle();
    documents.dispose();
    sent[0].answer(item('a'));
    await settle();
    sent[1].fail(new Error('The disk is full.'));
    await settle();
    expect(sent.map(one => one.name)).toEqual(['a', 'b', 'c']);
    const next = new Documents(peer.client, uploads);
    await next.open();
    expect(goingUp()).toEqual([
      ['b', { reason: 'The disk is full.' }],
      ['c', null]
    ]);
    sent[2].answer(item('c'));
    await settle();
    expect(next.items?.[0].itemId).toBe('c');
    next.dispose();
  });

  it('can be cancelled one by one, before or during sending, without blocking others', async () => {
    documents.addFiles([file('hangs'), file('unwanted'), file('wanted')]);
    await settle();
    expect(uploads.all.map(one => one.isSending)).toEqual([true, false, false]);
    uploads.drop(idOf('unwanted'));
    uploads.drop(idOf('hangs'));
    await settle();
    expect(sent.map(one => one.name)).toEqual(['hangs', 'wanted']);
    expect([goingUp(), uploads.isInProgress]).toEqual([[['wanted', null]], true]);
    sent[1].answer(item('wanted'));
    await settle();
    expect([goingUp(), uploads.isInProgress]).toEqual([[], false]);
  });
});

describe('a drop', () => {
  const node = document.createElement('div');
  const addFiles = vi.fn();
  const addPaths = vi.fn();
  let drop: DocumentDrop;
  beforeEach(() => {
    addFiles.mockReset();
    addPaths.mockReset();
    drop = new DocumentDrop(node, { addFiles, addPaths });
  });
  afterEach(() => drop.dispose());

  const native = (type: string, types: string[], items: unknown[] = []) => {
    const event = new Event(type, { bubbles: true, cancelable: true });
    Object.assign(event, { dataTransfer: { types, items, dropEffect: 'none' }, relatedTarget: null });
    node.dispatchEvent(event);
    return event;
  };

  it('of local files is handled, shown, and split into files and folders', () => {
    const one = new File(['x'], 'a.pdf');
    const entry = (isDirectory: boolean) => ({
      kind: 'file',
      getAsFile: () => one,
      webkitGetAsEntry: () => ({ isDirectory })
    });
    expect(native('dragover', ['Files']).defaultPrevented).toBe(true);
    expect(node.className).toBe('onyx-mod-drop');
    expect(native('drop', ['Files'], [entry(false), entry(true)]).defaultPrevented).toBe(true);
    expect(node.className).toBe('');
    expect(addFiles).toHaveBeenCalledExactlyOnceWith([
      { file: one, isFolder: false },
      { file: one, isFolder: true }
    ]);
  });

  it('of anything else is left to other handlers', () => {
    expect(native('dragover', ['text/plain']).defaultPrevented).toBe(false);
    expect(native('drop', ['text/plain']).defaultPrevented).toBe(false);
    expect(node.className).toBe('');
    expect(addFiles).not.toHaveBeenCalled();
  });

  it('of file browser entries adds them in place', () => {
    const own = (type: string, mime: string) => {
      const event = new Event(type, { bubbles: true, cancelable: true });
      const mimeData = { hasData: (name: string) => name === mime, getData: () => ['RTC:docs/a.md', 'b'] };
      Object.assign(event, { mimeData, proposedAction: 'move', dropAction: 'none' });
      node.dispatchEvent(event);
      return event as Event & { dropAction: string };
    };
    own('lm-dragover', 'application/x-jupyter-icontents');
    expect(node.className).toBe('onyx-mod-drop');
    expect(own('lm-drop', 'application/x-jupyter-icontents').dropAction).toBe('none');
    expect(addPaths).toHaveBeenCalledExactlyOnceWith(['docs/a.md', 'b']);
    own('lm-drop', 'application/vnd.jupyter.cells');
    expect(addPaths).toHaveBeenCalledOnce();
  });
});
