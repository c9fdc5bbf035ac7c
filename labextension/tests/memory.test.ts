import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { citedParts, foundPassages } from '../src/shared/citations';
import { factGroups, isAt } from '../src/features/memory/memory_facts';
import { MemoryFile } from '../src/features/memory/memory_file';
import type { Restored } from '../src/features/memory/memory_file';
import type { MemoryPlace } from '../src/shared/citations';
import { MemoryFiles } from '../src/features/memory/memory_files';
import { MemorySearch } from '../src/features/memory/memory_search';
import {
  fileGroups,
  markedParts,
  placeName,
  snippetFrom,
  textPieces
} from '../src/features/memory/memory_text';
import { memoryDrivePath } from '../src/features/workspace/onyx_drive';
import type { MemoryFact, MemoryFileInfo, MemoryPassage, MemoryVersionInfo } from '../src/protocol/wire';
import { Peer, Refusal, settle } from './peer';

const file = (path: string, values: Partial<MemoryFileInfo> = {}): MemoryFileInfo => ({
  ...{ path, shared: path.startsWith('shared/'), sizeBytes: 10, versions: 1, indexed: true },
  ...values
});
const passage = (path: string, startLine = 1): MemoryPassage => ({
  ...{ path, startLine, endLine: startLine, heading: '', score: 0.5, snippet: 'x' }
});
const version = (number: number, values: Partial<MemoryVersionInfo> = {}): MemoryVersionInfo => ({
  ...{ version: number, at: '2026-11-22T06:00:00Z', author: 'user', sizeBytes: 1, current: false },
  ...values
});
const STATUS = { searches: 'words', files: 1, problems: [] };
const AGENTS = { agents: [{ id: 'main', name: 'Onyx', model: 'm', default: true, workspace: '/w' }] };
const PLACE = { path: 'MEMORY.md', agentId: null };
let peer: Peer;

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = {
    'memory.files': { files: [file('MEMORY.md')] },
    'memory.status': STATUS,
    'agents.list': AGENTS
  };
  peer.connect();
});
afterEach(() => {
  peer.client.dispose();
  vi.useRealTimers();
});

/** A file with three versions, the last of them current; what is read is `now`, and `v1`, `v2` before. */
function withVersions(): void {
  peer.results['memory.versions'] = {
    versions: [version(3, { current: true }), version(2, { author: 'agent', sessionKey: 's' }), version(1)],
    total: 3
  };
  peer.results['memory.read'] = (params: { version?: number }) => ({
    path: 'MEMORY.md',
    text: params.version ? `v${params.version}` : 'now',
    checksum: params.version ? `c${params.version}` : 'c-now'
  });
}

describe('the memory files', () => {
  it('are loaded when shown, once for many changes, and not when hidden', async () => {
    const files = new MemoryFiles(peer.client);
    peer.emit('memory.updated', { path: 'MEMORY.md' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(files.files).toBeNull();
    await files.open();
    expect(files.files?.map(one => one.path)).toEqual(['MEMORY.md']);
    peer.emit('memory.updated', { path: 'MEMORY.md' });
    peer.emit('memory.updated', { path: 'USER.md' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.askedFor('memory.files')).toHaveLength(2);
    files.close();
    peer.emit('memory.updated', {});
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.askedFor('memory.files')).toHaveLength(2);
  });

  it('of another agent replace the previous ones, and the default agent needs no name', async () => {
    const files = new MemoryFiles(peer.client);
    await files.open();
    files.choose('main');
    expect(peer.askedFor('memory.files')).toHaveLength(1);
    files.choose('analyst');
    expect(files.files).toBeNull();
    await settle();
    expect(peer.askedFor('memory.files')[1]).toEqual({ agentId: 'analyst' });
  });

  it('stay visible with the reason if they cannot be reloaded', async () => {
    const files = new MemoryFiles(peer.client);
    await files.open();
    peer.results['memory.files'] = new Refusal(-32000, 'The disk is gone.');
    await files.load();
    expect([files.files?.length, files.problem]).toEqual([1, 'The disk is gone.']);
  });

  it('are grouped, newest day first', () => {
    const files = [
      'memory/facts.jsonl',
      'AGENTS.md',
      'MEMORY.md',
      'memory/2026-11-20.md',
      'memory/2026-11-21.md',
      'shared/a.md'
    ];
    const groups = fileGroups(
      [...files, 'USER.md'].map(path => file(path)).concat(file('OLD.md', { deleted: true }))
    );
    expect(groups.map(([group, found]) => [group, found.map(one => one.path)])).toEqual([
      ['remembered', ['MEMORY.md', 'USER.md', 'memory/facts.jsonl']],
      ['days', ['memory/2026-11-21.md', 'memory/2026-11-20.md']],
      ['shared', ['shared/a.md']],
      ['instructions', ['AGENTS.md']],
      ['deleted', ['OLD.md']]
    ]);
  });
});

describe('a memory search', () => {
  it('starts when typing pauses, and shows only the latest query’s results', async () => {
    const search = new MemorySearch(peer.client, () => null);
    search.type('fis');
    search.type('fiscal');
    await vi.advanceTimersByTimeAsync(500);
    expect(peer.askedFor('memory.search')).toEqual([{ query: 'fiscal', agentId: null, limit: 20 }]);
    search.type('fiscal year');
    await vi.advanceTimersByTimeAsync(500);
    const [first, second] = peer.socket.asked.filter(one => one.method === 'memory.search');
    peer.socket.frame({ id: second.id, result: { results: [passage('new.md')], note: 'By words alone.' } });
    peer.socket.frame({ id: first.id, result: { results: [passage('old.md')] } });
    await settle();
    expect(search.results?.map(one => one.path)).toEqual(['new.md']);
    expect(search.note).toBe('By words alone.');
  });

  it('ends when the query is cleared, also while an answer is pending', async () => {
    const search = new MemorySearch(peer.client, () => null);
    search.type('fiscal');
    await vi.advanceTimersByTimeAsync(500);
    search.type('');
    const [asked] = peer.socket.asked.filter(one => one.method === 'memory.search');
    peer.socket.frame({ id: asked.id, result: { results: [passage('late.md')] } });
    await settle();
    expect(search.results).toBeNull();
  });

  it('knows the query its results belong to, which may lag behind the input', async () => {
    const search = new MemorySearch(peer.client, () => null);
    peer.results['memory.search'] = { results: [passage('a.md')] };
    search.type('fiscal ');
    expect([search.searched, search.results]).toEqual([null, null]);
    await vi.advanceTimersByTimeAsync(500);
    search.type('fiscal year');
    expect([search.searched, search.results?.length]).toEqual(['fiscal', 1]);
    await vi.advanceTimersByTimeAsync(500);
    expect(search.searched).toBe('fiscal year');
    search.type('');
    expect(search.searched).toBeNull();
  });

  it('starts empty for another agent, and a failed one keeps no results of another query', async () => {
    let agent: string | null = null;
    const search = new MemorySearch(peer.client, () => agent);
    peer.results['memory.search'] = { results: [passage('mine.md')], note: 'By words alone.' };
    search.type('fiscal');
    await vi.advanceTimersByTimeAsync(500);
    agent = 'analyst';
    const answer = search.load();
    expect([search.results, search.note, search.searched]).toEqual([null, null, null]);
    await answer;
    expect(peer.askedFor('memory.search')[1]).toMatchObject({ agentId: 'analyst' });

    peer.results['memory.search'] = new Refusal(-32000, 'Away.');
    await search.load();
    expect([search.results?.length, search.problem]).toEqual([1, 'Away.']);
    search.type('budget');
    await vi.advanceTimersByTimeAsync(500);
    expect([search.results, search.searched, search.problem]).toEqual([null, null, 'Away.']);
    expect(search.failed).toBe('budget');
    peer.results['memory.search'] = { results: [] };
    await search.load();
    expect(search.failed).toBeNull();
  });

  it('also searches that agent’s conversations, without waiting for them', async () => {
    const search = new MemorySearch(
      peer.client,
      () => null,
      () => 'main'
    );
    peer.results['memory.search'] = { results: [passage('a.md')] };
    search.type('fiscal');
    await vi.advanceTimersByTimeAsync(500);
    expect([search.results?.length, search.conversations]).toEqual([1, []]);
    expect(peer.askedFor('sessions.list')).toEqual([{ query: 'fiscal', agentId: 'main', limit: 5 }]);
    const [asked] = peer.socket.asked.filter(one => one.method === 'sessions.list');
    peer.socket.frame({ id: asked.id, result: { sessions: [{ sessionKey: 's' }], total: 1 } });
    await settle();
    expect(search.conversations.map(one => one.sessionKey)).toEqual(['s']);
    search.type('');
    expect(search.conversations).toEqual([]);
  });

  it('can be filtered by kind and date, immediately, without showing earlier results', async () => {
    vi.setSystemTime(new Date(2026, 2, 14, 12));
    const search = new MemorySearch(peer.client, () => null);
    peer.results['memory.search'] = { results: [passage('a.md')] };
    peer.results['sessions.list'] = { sessions: [{ sessionKey: 's', updatedAt: '' }], total: 1 };
    search.type('fiscal');
    await vi.advanceTimersByTimeAsync(500);
    expect([search.results?.length, search.conversations.length]).toEqual([1, 1]);
    search.narrow({ where: 'facts' });
    expect([search.results, search.searched, search.conversations]).toEqual([null, null, []]);
    await settle();
    search.narrow({ where: 'files', lastDays: 30 });
    await settle();
    const asked = { query: 'fiscal', agentId: null, limit: 20 };
    expect(peer.askedFor('memory.search')).toEqual([
      asked,
      { ...asked, kinds: ['fact'] },
      { ...asked, kinds: ['memory', 'shared'], since: '2026-02-12' }
    ]);
    expect(peer.askedFor('sessions.list')).toHaveLength(1);
  });

  it('ignores the date filter for facts, which have no date', async () => {
    const search = new MemorySearch(peer.client, () => null);
    peer.results['memory.search'] = { results: [] };
    peer.results['sessions.list'] = { sessions: [], total: 0 };
    search.narrow({ lastDays: 7 });
    search.type('fiscal');
    await vi.advanceTimersByTimeAsync(500);
    search.narrow({ where: 'facts' });
    await settle();
    search.narrow({ lastDays: 30 });
    await settle();
    search.narrow({ where: 'all' });
    await settle();
    expect(search.filter).toEqual({ where: 'all', lastDays: null });
    expect(peer.askedFor('memory.search').map(asked => 'since' in (asked as object))).toEqual([
      ...[true, false, false, false]
    ]);
  });

  it('in conversations only requests nothing else, within the chosen dates', async () => {
    vi.setSystemTime(new Date(2026, 2, 14, 12));
    const search = new MemorySearch(peer.client, () => null);
    search.narrow({ where: 'conversations', lastDays: 7 });
    search.type('fiscal');
    await vi.advanceTimersByTimeAsync(500);
    expect([search.results, peer.askedFor('memory.search')]).toEqual([null, []]);
    const said = (sessionKey: string, at: Date) => {
      const match = { entryId: 'e', role: 'user', at: at.toISOString(), snippet: 'x' };
      return { sessionKey, match, updatedAt: '2026-03-14T00:00:00Z' };
    };
    const sessions = [said('old', new Date(2026, 2, 6)), said('new', new Date(2026, 2, 7, 1))];
    const [asked] = peer.socket.asked.filter(one => one.method === 'sessions.list');
    peer.socket.frame({ id: asked.id, result: { sessions, total: 2 } });
    await settle();
    expect(search.conversations.map(one => one.sessionKey)).toEqual(['new']);
    expect(search.results).toEqual([]);
  });

  it('that fails says why', async () => {
    peer.results['memory.search'] = new Refusal(-32000, 'The index is being made.');
    const search = new MemorySearch(peer.client, () => 'analyst');
    search.type('x');
    await vi.advanceTimersByTimeAsync(500);
    expect(search.problem).toBe('The index is being made.');
  });
});

describe('a memory file', () => {
  it('is loaded with its versions, and reloaded when it changes, but not when another does', async () => {
    withVersions();
    const shown = new MemoryFile(peer.client);
    shown.open({ ...PLACE, lines: [2, 3] });
    await settle();
    expect([shown.text?.text, shown.versions?.length, shown.place?.lines]).toEqual(['now', 3, [2, 3]]);
    peer.emit('memory.updated', { path: 'USER.md' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.askedFor('memory.versions')).toHaveLength(1);
    peer.emit('memory.updated', { path: 'MEMORY.md' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.askedFor('memory.versions')).toHaveLength(2);
  });

  it('compares a former version with now, and the current one with its predecessor', async () => {
    withVersions();
    const shown = new MemoryFile(peer.client);
    shown.open(PLACE);
    await settle();
    shown.compare(1);
    await settle();
    expect(shown.comparison).toMatchObject({ with: 'now', before: 'v1', after: 'now' });
    shown.compare(3);
    await settle();
    expect(shown.comparison).toMatchObject({ with: 'before', before: 'v2', after: 'now' });
  });

  it('has no comparison without an earlier version', async () => {
    withVersions();
    peer.results['memory.versions'] = { versions: [version(1, { current: true })], total: 1 };
    const shown = new MemoryFile(peer.client);
    shown.open(PLACE);
    shown.compare(1);
    await settle();
    expect(shown.comparison).toMatchObject({ with: 'nothing', before: 'now', after: 'now' });
  });

  it('is restored based on what was shown, which can be undone', async () => {
    withVersions();
    const shown = new MemoryFile(peer.client);
    const restored: Restored[] = [];
    shown.restored.connect((_, one) => restored.push(one));
    shown.open(PLACE);
    await settle();
    peer.results['memory.restore'] = { path: 'MEMORY.md', version: 4 };
    await shown.restore(shown.versions![2]);
    expect(peer.askedFor('memory.restore')).toEqual([{ ...PLACE, version: 1, basedOn: 'c-now' }]);
    expect(restored[0].version.version).toBe(1);
    await restored[0].undo!();
    expect(peer.askedFor('memory.restore')[1]).toEqual({ ...PLACE, version: 3, basedOn: 'c-now' });
    expect(shown.hasConflict).toBe(false);
  });

  it('that was changed meanwhile is not restored, with a message, and reloaded', async () => {
    withVersions();
    const shown = new MemoryFile(peer.client);
    let said = 0;
    shown.restored.connect(() => (said += 1));
    shown.open(PLACE);
    shown.compare(1);
    await settle();
    const conflict = new Refusal(-32000, 'MEMORY.md has changed.', { code: 'memory_conflict' });
    peer.results['memory.restore'] = conflict;
    peer.results['memory.read'] = { path: 'MEMORY.md', text: 'by hand', checksum: 'c-hand' };
    await shown.restore(shown.versions![2]);
    expect([shown.hasConflict, shown.problem, said]).toEqual([true, null, 0]);
    expect(shown.comparison?.after).toBe('by hand');
    peer.results['memory.restore'] = { path: 'MEMORY.md', version: 5 };
    await shown.restore(shown.versions![2]);
    expect(peer.askedFor('memory.restore')[1]).toMatchObject({ basedOn: 'c-hand' });
    expect([shown.hasConflict, said]).toEqual([false, 1]);
  });

  /** A file with so many versions; `write` adds one. */
  const withMany = (count: number) => {
    const kept = Array.from({ length: count }, (_, back) => version(count - back, { current: back === 0 }));
    peer.results['memory.versions'] = ({ limit, before }: { limit: number; before?: number }) => ({
      versions: kept.filter(one => one.version < (before ?? Infinity)).slice(0, limit),
      total: kept.length
    });
    peer.results['memory.read'] = ({ version: number }: { version?: number }) => {
      const isKept = number === undefined || kept.some(one => one.version === number);
      const text = number === undefined ? `now ${kept[0].version}` : `v${number}`;
      return isKept ? { path: 'MEMORY.md', text, checksum: 'c' } : new Refusal(-32000, 'It is not kept.');
    };
    const write = () => {
      kept[0] = { ...kept[0], current: false };
      kept.unshift(version(kept[0].version + 1, { current: true }));
      peer.emit('memory.updated', { path: 'MEMORY.md' });
      return vi.advanceTimersByTimeAsync(1000);
    };
    return { kept, write };
  };

  it('keeps list and comparison when more versions arrive', async () => {
    const { write } = withMany(2500);
    const shown = new MemoryFile(peer.client);
    shown.open(PLACE);
    await settle();
    shown.compare(2301); // the oldest shown
    await write();
    expect([shown.versions?.length, shown.versions?.at(-1)?.version]).toEqual([201, 2301]);
    for (let page = 0; page < 6; page += 1) {
      await shown.showOlder();
    }
    shown.compare(1101);
    await settle();
    await write();
    expect([shown.versions?.length, shown.versions?.at(-1)?.version]).toEqual([1402, 1101]);
    expect(shown.versions?.map(one => one.version)).toEqual(Array.from({ length: 1402 }, (_, n) => 2502 - n));
    expect(shown.comparison).toMatchObject({
      version: { version: 1101 },
      before: 'v1101',
      after: 'now 2502'
    });
  });

  it('keeps a comparison with a version pruned meanwhile', async () => {
    const { kept, write } = withMany(9);
    const shown = new MemoryFile(peer.client);
    shown.open(PLACE);
    await settle();
    shown.compare(4);
    await settle();
    kept.splice(4, 3); // 5, 4 and 3
    await write();
    expect(shown.versions?.map(one => one.version)).toEqual([10, 9, 8, 7, 6, 4, 2, 1]);
    expect([shown.versionCount, shown.problem]).toEqual([8, null]);
    expect(shown.comparison).toMatchObject({ before: 'v4', after: 'now 10' });
    shown.compare(null);
    await write();
    expect(shown.versions?.some(one => one.version === 4)).toBe(false);
  });

  it('shows older versions on demand, and keeps them on reload', async () => {
    withMany(450);
    const shown = new MemoryFile(peer.client);
    shown.open(PLACE);
    await settle();
    const listed = () => [shown.versions?.length, shown.versions?.at(-1)?.version, shown.versionCount];
    expect(listed()).toEqual([200, 251, 450]);
    void shown.showOlder();
    void shown.showOlder();
    expect(shown.isReadingOlder).toBe(true);
    await settle();
    expect(listed()).toEqual([400, 51, 450]);
    expect(peer.askedFor('memory.versions')[1]).toMatchObject({ limit: 200, before: 251 });
    shown.compare(60);
    peer.emit('memory.updated', { path: 'MEMORY.md' });
    await vi.advanceTimersByTimeAsync(1000);
    expect([...listed(), shown.comparison?.version.version]).toEqual([400, 51, 450, 60]);
    await shown.showOlder();
    expect([...listed(), shown.isReadingOlder]).toEqual([450, 1, 450, false]);
    expect(new Set(shown.versions?.map(one => one.version)).size).toBe(450);
  });

  it('says why older versions cannot be shown, and adds none to another file', async () => {
    withVersions();
    const shown = new MemoryFile(peer.client);
    shown.open(PLACE);
    await settle();
    peer.results['memory.versions'] = new Refusal(-32000, 'The disk is gone.');
    await shown.showOlder();
    expect([shown.versions?.length, shown.isReadingOlder]).toEqual([3, false]);
    withVersions();
    await shown.load();
    expect([shown.refusal, shown.problem]).toEqual(['The disk is gone.', null]);
    shown.dismissRefusal();
    expect(shown.refusal).toBeNull();
    peer.results['memory.versions'] = { versions: [version(9)], total: 9 };
    const older = shown.showOlder();
    shown.open({ path: 'USER.md', agentId: null });
    await older;
    await settle();
    expect(shown.versions?.map(one => one.version)).toEqual([9]);
  });

  it('that was deleted has versions but no text, and is restored without an undo', async () => {
    const shown = new MemoryFile(peer.client);
    const restored: Restored[] = [];
    shown.restored.connect((_, one) => restored.push(one));
    const versions = [version(2, { current: true, deleted: true }), version(1)];
    peer.results['memory.versions'] = { versions, total: 2 };
    shown.open(PLACE);
    await settle();
    expect([shown.text, shown.problem]).toEqual([null, null]);
    withVersions();
    peer.results['memory.restore'] = { path: 'MEMORY.md', version: 3 };
    await shown.restore(versions[1]);
    expect(peer.askedFor('memory.restore')[0]).toMatchObject({ version: 1, basedOn: '' });
    expect(restored[0].undo).toBeNull();
  });

  it('that cannot be read still lists its versions', async () => {
    withVersions();
    peer.results['memory.read'] = new Refusal(-32000, 'MEMORY.md is no text.');
    const shown = new MemoryFile(peer.client);
    shown.open(PLACE);
    await settle();
    expect([shown.versions?.length, shown.problem]).toEqual([3, 'MEMORY.md is no text.']);
  });

  it('opens in an editor from its folder', () => {
    expect(memoryDrivePath('MEMORY.md', null)).toBe('Onyx:workspace/MEMORY.md');
    expect(memoryDrivePath('memory/2026-11-20.md', 'analyst')).toBe(
      'Onyx:workspace-analyst/memory/2026-11-20.md'
    );
    expect(memoryDrivePath('shared/a.md', 'analyst')).toBe('Onyx:shared/a.md');
  });
});

describe('a memory text', () => {
  it('is split into blocks with line numbers, each list item by itself', () => {
    const text = '# Title\r\n\r\nTwo\nlines\n\n\n- one\n- two\n  goes on\n\n```\n- no item\n\n```\n';
    const pieces = textPieces(text).map(piece => [piece.startLine, piece.endLine, piece.isItem, piece.text]);
    expect(pieces).toEqual([
      [1, 1, false, '# Title'],
      [3, 4, false, 'Two\nlines'],
      [7, 7, true, '- one'],
      [8, 9, true, '- two\n  goes on'],
      [11, 14, false, '```\n- no item\n\n```']
    ]);
  });

  it('keeps a list that contains code whole', () => {
    expect(textPieces('- a\n  ```\n- x\n  ```\n- b')).toHaveLength(1);
  });

  it('is marked where query words begin', () => {
    expect(markedParts('The fiscal year', 'fisc YEAR')).toEqual(['The ', 'fisc', 'al ', 'year', '']);
    expect(markedParts('an ant in March', 'an (')).toEqual(['', 'an', ' ant in March']);
    expect(snippetFrom('## Work\n- **Ada** leads\n- the `year`', 'ada')).toBe('Ada leads the year');
  });
});

describe('facts', () => {
  const fact = (id: string, values: Partial<MemoryFact> = {}): MemoryFact => ({
    ...{ id, text: `Fact ${id}`, category: 'general', confidence: 1, lines: [1], author: 'agent' as const },
    ...{ since: '2026-03-01T00:00:00Z', toldAt: '2026-03-01T00:00:00Z', validFrom: '2026-03-01T00:00:00Z' },
    ...values
  });
  const FORMER = fact('f1', { validUntil: '2026-03-05T00:00:00Z', confidence: 0.66, category: 'dates' });

  it('that are current come before ended ones, newest first', () => {
    const again = fact('f3', { toldAt: '2026-03-09T00:00:00Z' });
    const groups = factGroups([FORMER, fact('f2'), again]);
    expect(groups.map(group => group.map(one => one.id))).toEqual([['f3', 'f2'], ['f1']]);
  });

  it('are identified by id and by every line that mentions them', () => {
    const told = fact('f1', { lines: [2, 7] });
    const path = 'memory/facts.jsonl';
    const at = (place: Partial<MemoryPlace>) => isAt(told, { path, agentId: null, ...place });
    expect([at({ fact: 'f1' }), at({ lines: [2, 2] }), at({ lines: [6, 8] })]).toEqual([true, true, true]);
    expect([at({ fact: 'f2' }), at({ lines: [3, 6] }), at({})]).toEqual([false, false, false]);
  });

  it('are compared as sentences, not as lines of their file', async () => {
    withVersions();
    const facts = (...all: MemoryFact[]) => ({ text: '{"id":"f1"}', checksum: 'c', facts: { facts: all } });
    peer.results['memory.read'] = (params: { version?: number }) =>
      params.version ? facts(fact('f1', { category: 'dates' })) : facts(FORMER, fact('f2'));
    const shown = new MemoryFile(peer.client);
    shown.open({ path: 'memory/facts.jsonl', agentId: null });
    await settle();
    shown.compare(1);
    await settle();
    expect(shown.comparison).toMatchObject({
      before: 'Fact f1 [dates] 2026-03-01 100 %\n',
      after: 'Fact f1 [dates] 2026-03-01 – 2026-03-05 66 %\nFact f2 2026-03-01 100 %\n'
    });
  });
});

describe('a citation', () => {
  it('is found in an answer in every notation of lines', () => {
    const cited = citedParts('See MEMORY.md:12–14, memory/2026-11-20.md:5 and shared/a.md#L7-L3.');
    expect(cited).toEqual([
      'See ',
      { words: 'MEMORY.md:12–14', citation: { path: 'MEMORY.md', lines: [12, 14] } },
      ', ',
      { words: 'memory/2026-11-20.md:5', citation: { path: 'memory/2026-11-20.md', lines: [5, 5] } },
      ' and ',
      { words: 'shared/a.md#L7-L3', citation: { path: 'shared/a.md', lines: [3, 7] } },
      '.'
    ]);
    expect(citedParts('Told (memory/facts.jsonl:3), see memory/facts.jsonl#f12.')).toEqual([
      'Told (',
      { words: 'memory/facts.jsonl:3', citation: { path: 'memory/facts.jsonl', lines: [3, 3] } },
      '), see ',
      { words: 'memory/facts.jsonl#f12', citation: { path: 'memory/facts.jsonl', fact: 'f12' } },
      '.'
    ]);
    expect(placeName({ path: 'MEMORY.md', startLine: 12, endLine: 14 })).toBe('MEMORY.md:12–14');
  });

  it.each([
    'README.md:12',
    'docs/MEMORY.md:1',
    'MEMORY.md',
    'http://x/memory/a.md:80',
    'shared/../x.md:1/2',
    'MEMORY.md#f1',
    'x/memory/facts.jsonl:1',
    'memory/facts.jsonl#fa'
  ])('is not found in %s', text => expect(citedParts(text)).toEqual([text]));

  it('comes only from what the memory tool found', () => {
    const results = [passage('MEMORY.md', 3)];
    expect(foundPassages(JSON.stringify({ results, note: 'n' }))).toEqual({ results, note: 'n' });
    for (const other of ['no JSON', '{"results": [{}]}', '[]', 'null', '{"results": 3}']) {
      expect(foundPassages(other)).toBeNull();
    }
  });
});
