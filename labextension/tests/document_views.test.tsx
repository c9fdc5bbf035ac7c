import { act } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { DocumentDetail } from '../src/features/documents/document_detail';
import { DocumentGroup } from '../src/features/documents/document_group';
import type { DocumentGroupProps } from '../src/features/documents/document_group';
import type { KnowledgeItemInfo } from '../src/protocol/wire';
import { drawAnew, host, part, render } from './drawing';

drawAnew();

const item = (itemId: string, more: Partial<KnowledgeItemInfo> = {}): KnowledgeItemInfo => ({
  ...{ itemId, kind: 'path', path: `docs/${itemId}`, title: itemId, addedAt: '2026-11-22T10:00:00Z' },
  ...{ state: 'done', done: 1, total: 1, chunks: 3, problemCount: 0 },
  ...more
});

const [remove, drop, dismissRefusal] = [vi.fn(), vi.fn(), vi.fn()];
const group = (more: Partial<DocumentGroupProps>) =>
  render(
    <DocumentGroup
      {...{ items: [], uploads: [], chosenId: null, problem: null, refusal: null, online: true }}
      {...{ choose: vi.fn(), remove, addFiles: vi.fn(), drop, dismissRefusal }}
      {...more}
    />
  );
const detail = (one: KnowledgeItemInfo) =>
  render(
    <DocumentDetail
      {...{ item: one, refusal: null, online: true, refresh: vi.fn(), stop: vi.fn(), remove }}
      {...{ open: null, back: vi.fn(), dismissRefusal }}
    />
  );
const rows = () => [...host.querySelectorAll<HTMLElement>('[data-onyx=document]')];

beforeEach(() => {
  remove.mockReset();
});

describe('the document group', () => {
  it('explains itself when empty, but not while loading', async () => {
    await group({ items: null });
    expect(part('documents-empty')).toBeNull();
    await group({});
    expect(part('documents-empty')?.textContent).toContain('Drop files here, or choose some');
  });

  it('shows the progress of each document in counts', async () => {
    await group({
      items: [
        item('docs', { state: 'reading', done: 12, total: 40 }),
        item('next', { state: 'waiting', total: 0 }),
        item('whole'),
        item('part', { problemCount: 2 }),
        item('gone', { state: 'failed', problem: 'It no longer exists.' })
      ]
    });
    const words = rows().map(row => [...row.querySelectorAll('span')].map(span => span.textContent));
    expect(words).toEqual([
      ['docs', '12 of 40', 'docs/docs'],
      ['next', 'waiting', 'docs/next'],
      ['whole', '3 passages', 'docs/whole'],
      ['part', '2 problems', 'docs/part'],
      ['gone', 'not read', 'It no longer exists.']
    ]);
    expect(rows()[0].querySelector('progress')?.value).toBe(12);
  });

  it('shows news about a document below its name', async () => {
    const addedAt = new Date(Date.now() - 3 * 60_000).toISOString();
    await group({
      items: [
        item('docs', { path: 'docs', total: 14, addedAt }),
        item('a.md', { path: 'a.md', addedAt }),
        item('Tides', { kind: 'upload', path: 'tides.pdf', addedAt }),
        item('b.pdf', { kind: 'upload', path: 'b.pdf', addedAt }),
        item('.', { path: '.', addedAt })
      ]
    });
    const about = [...host.querySelectorAll('.onyx-Row-about')].map(span => span.textContent);
    expect(about).toEqual([
      '14 files',
      'added 3m ago',
      'tides.pdf, uploaded 3m ago',
      'uploaded 3m ago',
      'all of the file browser'
    ]);
  });

  it('removes with the Delete key and focuses the next row', async () => {
    await group({ items: [item('a'), item('b')] });
    rows()[1].focus();
    const press = new KeyboardEvent('keydown', { key: 'Delete', bubbles: true });
    await act(async () => rows()[1].dispatchEvent(press));
    expect(remove).toHaveBeenCalledExactlyOnceWith('b');
    expect(document.activeElement).toBe(rows()[0]);
  });

  it('says why a file was not uploaded', async () => {
    const refused = { maxBytes: 50_000_000 };
    await group({ uploads: [{ id: 1, name: 'big.pdf', isSending: false, refused }] });
    expect(part('document-upload')?.textContent).toContain('It is larger than 50 MB.');
    expect(part('documents-empty')).toBeNull();
  });

  it('has a remove button on each upload, and focuses the next row', async () => {
    const upload = (id: number, isSending: boolean) => ({ id, name: `${id}.pdf`, isSending, refused: null });
    await group({ uploads: [upload(1, true), upload(2, false)], items: [item('a')] });
    const shown = [...host.querySelectorAll<HTMLElement>('[data-onyx=document-upload]')];
    expect(shown.map(row => row.textContent)).toEqual(['2.pdfwaiting', '1.pdfuploading']);
    const crosses = shown.map(row => row.querySelector('button')!);
    expect(crosses[1].getAttribute('aria-label')).toBe('Do not add “1.pdf”');
    await act(async () => crosses[0].click());
    expect([drop.mock.lastCall, document.activeElement]).toEqual([[2], crosses[1]]);
    await act(async () => crosses[1].click());
    expect([drop.mock.lastCall, document.activeElement]).toEqual([[1], rows()[0]]);
  });

  it('shows a failed action beside the list’s problem until dismissed', async () => {
    await group({ refusal: 'The index cannot be written.', problem: 'The disk is gone.' });
    expect(part('documents-problem')?.textContent).toBe('The disk is gone.');
    expect(part('documents-refusal')?.textContent).toBe('The index cannot be written.');
    await act(async () => part('refusal-dismiss')!.click());
    expect(dismissRefusal).toHaveBeenCalledOnce();
  });
});

describe('a document', () => {
  it('can be stopped while indexing, and indexed again', async () => {
    await detail(item('a', { state: 'reading', done: 1, total: 3, chunks: 7 }));
    expect(part('document-standing')?.textContent).toBe(
      '1 of 3 files are read, and 7 passages can be found.'
    );
    expect([part('document-stop') !== null, part('document-refresh')]).toEqual([true, null]);
    await detail(item('a', { chunks: 1 }));
    expect(part('document-standing')?.textContent).toBe('1 passage can be found, in every conversation.');
    expect([part('document-stop'), part('document-refresh') !== null]).toEqual([null, true]);
  });

  it('lists each unreadable file with the reason', async () => {
    const problems = [{ path: 'docs/a.pdf', message: 'It is encrypted.' }];
    await detail(item('a', { total: 9, problemCount: 3, problems }));
    expect(part('document-problems')?.textContent).toBe(
      '3 files could not be read, or not all of themdocs/a.pdfIt is encrypted.… and 2 more'
    );
  });

  it('opens a page in another tab only if it is a web address', async () => {
    await detail(item('a', { kind: 'url', path: 'https://tides.example/' }));
    expect(host.querySelector('a')?.rel).toBe('noopener noreferrer');
    await detail(item('a', { kind: 'url', path: 'javascript:alert(1)' }));
    expect(host.querySelector('a')).toBeNull();
  });
});
