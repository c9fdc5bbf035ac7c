import { act } from 'react';
import type { ComponentProps } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { MemoryList } from '../src/features/memory/memory_list';
import { SessionListView } from '../src/features/sessions/session_list_view';
import type { MemoryFilter, MemorySearch } from '../src/features/memory/memory_search';
import type { SessionList } from '../src/features/sessions/session_list';
import type { MemoryPassage, SessionInfo } from '../src/protocol/wire';
import { drawAnew, host, part, render } from './drawing';

drawAnew();

const press = (name: string, key: string, isComposing = false) => {
  const event = new KeyboardEvent('keydown', { key, isComposing, bubbles: true });
  return act(async () => void part(name)!.dispatchEvent(event));
};

describe('the memory search list', () => {
  const passage = (path: string, values: Partial<MemoryPassage> = {}): MemoryPassage => ({
    ...{ path, startLine: 1, endLine: 2, heading: '', score: 0.5, snippet: 'x' },
    ...values
  });
  const narrow = vi.fn();
  const opened = vi.fn<(passage: MemoryPassage) => void>();
  const talked = vi.fn<(session: SessionInfo) => void>();
  const list = (values: Partial<MemorySearch>, props: Partial<ComponentProps<typeof MemoryList>> = {}) => {
    const search = {
      ...{ query: 'fiscal year', searched: 'fiscal year', failed: null, results: null, conversations: [] },
      ...{ note: null, problem: null, type: vi.fn(), filter: { where: 'all', lastDays: null }, narrow },
      ...values
    } as unknown as MemorySearch;
    return render(
      <MemoryList
        {...{ files: { files: [], status: null }, search, place: null }}
        {...{ openFile: vi.fn(), openPassage: opened, openConversation: talked, ...props }}
      />
    );
  };

  beforeEach(() => opened.mockClear());

  it('opens the best match on Enter, never one of an earlier query', async () => {
    await list({ searched: 'fisc', results: [passage('old.md')] });
    await press('memory-search', 'Enter');
    expect(opened).not.toHaveBeenCalled();
    await list({ results: [passage('new.md'), passage('other.md')] });
    expect(opened.mock.calls.map(([one]) => one.path)).toEqual(['new.md']);
    await list({ results: [passage('newer.md')] });
    expect(opened).toHaveBeenCalledTimes(1);
    await press('memory-search', 'Enter');
    expect(opened).toHaveBeenLastCalledWith(passage('newer.md'));
  });

  it('shows matching conversations below the results', async () => {
    const match = { entryId: 'e', role: 'user' as const, at: '', snippet: 'Our fiscal year starts in April' };
    const session = { sessionKey: 's', title: 'Budget', updatedAt: '', match } as SessionInfo;
    await list({ results: [], conversations: [session] });
    expect(part('memory-results')!.textContent).toContain('Nothing was noted.');
    const row = part('memory-conversation')!;
    expect(row.textContent).toBe('BudgetYou: Our fiscal year starts in April');
    expect([...row.querySelectorAll('mark')].map(mark => mark.textContent)).toEqual(['fiscal', 'year']);
    part('memory-search')!.focus();
    await press('memory-search', 'ArrowDown');
    expect(document.activeElement).toBe(row);
    await act(async () => row.click());
    expect(talked).toHaveBeenCalledWith(session);
    const named = { ...session, match: null, lastMessagePreview: 'From April, as every year' };
    await list({ results: [], conversations: [named] });
    expect(part('memory-conversation')!.textContent).toBe('BudgetFrom April, as every year');
    await list({ results: [], conversations: [session] }, { openConversation: null });
    expect([part('memory-conversation'), part('memory-results')!.textContent]).toEqual([
      null,
      'Nothing found.'
    ]);
  });

  it('can be filtered while there is a query', async () => {
    await list({ query: '' });
    expect(part('memory-filter')).toBeNull();
    await list({});
    const choose = (name: string, value: string) =>
      act(async () => {
        const select = part(name) as HTMLSelectElement;
        select.value = value;
        select.dispatchEvent(new Event('change', { bubbles: true }));
      });
    await choose('memory-where', 'facts');
    await choose('memory-since', '30');
    await choose('memory-since', '');
    expect(narrow.mock.calls).toEqual([[{ where: 'facts' }], [{ lastDays: 30 }], [{ lastDays: null }]]);
  });

  it('says what a date filter excludes, and has none for facts', async () => {
    const told = async (filter: MemoryFilter) => {
      await list({ filter });
      const { disabled, title } = part('memory-since') as HTMLSelectElement;
      return [
        disabled,
        title.includes('Date filters don’t apply to facts'),
        part('memory-undated')?.textContent
      ];
    };
    expect(await told({ where: 'all', lastDays: null })).toEqual([false, false, undefined]);
    expect(await told({ where: 'all', lastDays: 7 })).toEqual([
      ...[false, false, 'Facts and files without a date, such as MEMORY.md, are left out.']
    ]);
    expect(await told({ where: 'files', lastDays: 7 })).toEqual([
      ...[false, false, 'Files without a date, such as MEMORY.md, are left out.']
    ]);
    expect(await told({ where: 'conversations', lastDays: 7 })).toEqual([false, false, undefined]);
    expect(await told({ where: 'facts', lastDays: null })).toEqual([true, true, undefined]);
  });

  it('uses the documents’ space for results', async () => {
    const documents = <p data-onyx="documents">Papers</p>;
    await list({ query: ' ' }, { documents });
    expect(part('documents')).not.toBeNull();
    await list({ results: [] }, { documents });
    expect(part('documents')).toBeNull();
  });

  it('opens nothing if the user moves on before the answer', async () => {
    await list({ searched: 'fisc', results: [passage('old.md')] });
    part('memory-search')!.focus();
    await press('memory-search', 'Enter');
    await act(async () => part('memory-search')!.blur());
    await list({ results: [passage('new.md')] });
    expect(opened).not.toHaveBeenCalled();
  });

  it('opens nothing after a failure', async () => {
    await list({ searched: null });
    await press('memory-search', 'Enter');
    await list({ searched: null, failed: 'fiscal year', problem: 'Away.' });
    await list({ results: [passage('new.md')] });
    expect(opened).not.toHaveBeenCalled();
  });

  it('waits for the answer to a new query after a failed one', async () => {
    await list({ searched: null, failed: 'fisc', problem: 'Away.' });
    await press('memory-search', 'Enter');
    await list({ results: [passage('new.md')] });
    expect(opened).toHaveBeenCalledOnce();
  });

  it('ignores the key that ends an IME composition', async () => {
    const type = vi.fn();
    await list({ results: [passage('a.md')], type });
    await press('memory-search', 'Enter', true);
    await press('memory-search', 'Escape', true);
    expect([opened.mock.calls, type.mock.calls]).toEqual([[], []]);
    await press('memory-search', 'Escape');
    expect(type).toHaveBeenCalledExactlyOnceWith('');
  });

  it('has a row for each passage of one long line, one of them selected', async () => {
    const long = [passage('a.md'), passage('a.md', { endLine: 1 }), passage('a.md', { endLine: 1 })];
    const warned = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const place = { path: 'a.md', agentId: null, lines: [1, 2] as const };
    await list({ results: long }, { place });
    await list({ results: long.slice(1) });
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    await list({ results: long }, { place });
    const rows = [...host.querySelectorAll('[data-onyx=memory-result]')];
    expect(rows.map(row => row.getAttribute('aria-current'))).toEqual(['true', 'false', 'false']);
  });
});

describe('the list of sessions', () => {
  const search = vi.fn<(query: string) => void>();
  const [open, close] = [vi.fn(), vi.fn()];
  const session = { sessionKey: 's', title: 'Birds', updatedAt: '' } as SessionInfo;
  beforeEach(() => [open, close].forEach(one => one.mockReset()));
  const list = (values: Partial<SessionList>) => {
    const nothing = { sessions: [], total: 0, isLoading: false, note: null, isWhole: true, problem: null };
    const found = { ...nothing, query: '', failed: null, ...values } as unknown as SessionList;
    return render(<SessionListView {...{ list: found, current: null, open, close, search }} />);
  };
  const type = (query: string) =>
    act(async () => {
      const field = part('session-search') as HTMLInputElement;
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, query);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
  const said = () => part('session-note')?.textContent;

  it('says that time ran out instead of that nothing was found, and can search again', async () => {
    await list({});
    expect(said()).toBe('No sessions yet');
    await type('nest');
    await list({ query: 'nest' });
    expect(said()).toBe('Nothing found.');
    expect(part('session-search-again')).toBeNull();
    await list({ query: 'nest', isWhole: false, note: 'There was no time.' });
    expect(said()).toBe('Nothing found so far.There was no time.Search again');
    expect(part('session-note')!.getAttribute('role')).toBe('status');
    await act(async () => part('session-search-again')!.click());
    expect(search).toHaveBeenLastCalledWith('nest');
  });

  it('says that only words were searched', async () => {
    await list({ sessions: [session], total: 1, query: 'nest', note: 'Only keywords were searched.' });
    expect(said()).toBe('Only keywords were searched.');
  });

  it('opens results on Enter as they arrive, and nothing after a failure', async () => {
    await list({});
    await type('nest');
    await press('session-search', 'Enter');
    await list({ sessions: [session], query: 'nest' });
    expect(open).toHaveBeenCalledExactlyOnceWith(session);
    await type('nests');
    await press('session-search', 'Enter');
    await list({ sessions: [session], query: 'nest', failed: 'nests', problem: 'Away.' });
    await list({ sessions: [session], query: 'nests' });
    expect(open).toHaveBeenCalledOnce();
  });

  it('ignores the key that ends an IME composition', async () => {
    await list({ sessions: [session], query: '' });
    await press('session-search', 'Enter', true);
    await press('session-search', 'Escape', true);
    expect([open.mock.calls, close.mock.calls]).toEqual([[], []]);
    await press('session-search', 'Escape');
    expect(close).toHaveBeenCalledOnce();
  });
});
