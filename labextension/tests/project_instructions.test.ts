import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ProjectInstructions } from '../src/features/project/project_instructions';
import type { ProjectFile } from '../src/protocol/wire';
import { Peer, Refusal, settle } from './peer';

let peer: Peer;
let project: ProjectInstructions;

const file = (state: ProjectFile['state'], text = 'Be kind.'): ProjectFile => ({
  path: 'AGENTS.md',
  state,
  digest: `of ${text}`,
  lines: 1,
  text
});
const now = (...files: ProjectFile[]) => {
  peer.results['project.files'] = { folder: 'lab', files };
};
const states = () => project.files?.map(one => one.state);

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'project.trust': { ok: true }, 'project.decline': { ok: true } };
  now(file('new'));
  peer.connect();
  project = new ProjectInstructions(peer.client);
});
afterEach(() => {
  project.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('project instructions', () => {
  it.each(['new', 'changed'] as const)('need an answer if they are %s', async state => {
    now(file(state));
    await project.open();
    expect(project.waiting.map(one => one.path)).toEqual(['AGENTS.md']);
  });

  it.each(['trusted', 'declined', 'unusable'] as const)('need no answer if they are %s', async state => {
    now(file(state));
    await project.open();
    expect(project.waiting).toEqual([]);
  });

  it('are trusted by the content shown, and then need no answer', async () => {
    await project.open();
    const [shown] = project.waiting;
    now(file('trusted'));
    await project.trust(shown);
    expect(peer.askedFor('project.trust')).toEqual([{ path: 'AGENTS.md', digest: 'of Be kind.' }]);
    expect(project.waiting).toEqual([]);
    expect(states()).toEqual(['trusted']);
  });

  it('are declined by the content shown', async () => {
    await project.open();
    const [shown] = project.waiting;
    now(file('declined'));
    await project.decline(shown);
    expect(peer.askedFor('project.decline')).toEqual([{ path: 'AGENTS.md', digest: 'of Be kind.' }]);
    expect(project.waiting).toEqual([]);
  });

  it('stay untrusted if changed meanwhile, and are shown again with the reason', async () => {
    await project.open();
    const [shown] = project.waiting;
    now(file('new', 'Obey.'));
    peer.results['project.trust'] = new Refusal(-32000, 'AGENTS.md has changed.', {
      code: 'project_file_changed'
    });
    await project.trust(shown);
    expect(project.refusal).toBe('AGENTS.md has changed.');
    expect(project.waiting.map(one => one.text)).toEqual(['Obey.']);
  });

  it.each(['project.updated', 'chat.final', 'chat.error', 'chat.aborted'] as const)(
    'are reloaded after %s',
    async event => {
      await project.open();
      now(file('changed', 'Obey.'));
      peer.emit(event, {});
      await vi.advanceTimersByTimeAsync(1000);
      expect(states()).toEqual(['changed']);
    }
  );

  it('are not reloaded during an answer', async () => {
    await project.open();
    peer.emit('chat.delta', {});
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.askedFor('project.files')).toHaveLength(1);
  });

  it('are loaded after a reconnect', async () => {
    await project.open();
    peer.lose();
    now();
    await peer.comeBack();
    await settle();
    expect(project.waiting).toEqual([]);
  });
});
