import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { SkillDraft } from '../src/features/skills/skill_draft';
import { SkillRuns } from '../src/features/skills/skill_runs';
import { Skills } from '../src/features/skills/skills';
import type { SkillInfo, SkillRunInfo } from '../src/protocol/wire';
import { Peer, Refusal, settle } from './peer';

const skill = (name: string, values: Partial<SkillInfo> = {}): SkillInfo => ({
  ...{
    id: `home:${name}`,
    name,
    kind: 'notebook',
    description: name,
    source: 'home',
    location: `/${name}.ipynb`
  },
  ...{
    state: 'ready',
    trusted: true,
    changed: false,
    hash: `${name}-1`,
    requires: { bins: [], env: [], python: [] }
  },
  ...values
});
const run = (runId: string, values: Partial<SkillRunInfo> = {}): SkillRunInfo => ({
  ...{
    runId,
    skill: 'count',
    status: 'ok',
    parameters: {},
    startedAt: '2026-11-22T06:00:00Z',
    by: 'user:ada'
  },
  ...{ copyLocation: `/runs/${runId}.ipynb`, hash: 'count-1' },
  ...values
});
let peer: Peer;

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = {
    'skills.list': { skills: [skill('count'), skill('plot')], leftOut: 0 },
    'skills.get': ({ id }: { id: string }) => ({ skill: skill(id.slice(5)), text: 'x', instructions: '' })
  };
  peer.connect();
});
afterEach(() => {
  peer.client.dispose();
  vi.useRealTimers();
});

describe('the skills', () => {
  it('are loaded when shown, reloaded when they change, and not when hidden', async () => {
    const skills = new Skills(peer.client);
    peer.emit('skills.updated', {});
    await settle();
    expect(skills.skills).toBeNull();
    await skills.open();
    expect(skills.skills?.map(one => one.name)).toEqual(['count', 'plot']);
    peer.results['skills.list'] = { skills: [skill('plot')], leftOut: 2 };
    peer.emit('skills.updated', {});
    await vi.advanceTimersByTimeAsync(1000);
    expect([skills.skills?.length, skills.leftOut]).toEqual([1, 2]);
    peer.emit('skills.updated', {});
    skills.close();
    peer.emit('skills.updated', {});
    await vi.advanceTimersByTimeAsync(1000);
    expect(peer.askedFor('skills.list')).toHaveLength(2);
  });

  it('show details of the latest selection, however late an answer comes', async () => {
    const skills = new Skills(peer.client);
    await skills.open();
    skills.select('home:count');
    skills.select('home:plot');
    await settle();
    expect(skills.detail?.skill.name).toBe('plot');
    skills.select(null);
    expect([skills.selected, skills.detail]).toEqual([null, null]);
  });

  it('are trusted in the version shown, and report a changed one', async () => {
    const skills = new Skills(peer.client);
    await skills.open();
    skills.select('home:count');
    await settle();
    peer.results['skills.trust'] = { skill: skill('count') };
    await skills.trust('count-1');
    expect(peer.askedFor('skills.trust')).toEqual([{ name: 'count', id: 'home:count', hash: 'count-1' }]);
    peer.results['skills.trust'] = new Refusal(-32602, 'The skill has changed meanwhile.');
    await skills.trust('count-1');
    expect(skills.refusal).toBe('The skill has changed meanwhile.');
    await skills.load();
    expect(skills.refusal).toBe('The skill has changed meanwhile.');
    skills.select('home:plot');
    expect(skills.refusal).toBeNull();
  });

  it('show the newest text even if an older answer arrives later', async () => {
    const skills = new Skills(peer.client);
    await skills.open();
    skills.select('home:count');
    await settle();
    const answers: Array<(hash: string) => void> = [];
    peer.results['skills.get'] = undefined;
    void skills.load();
    void skills.load();
    await settle();
    for (const { id } of peer.socket.asked.filter(one => one.method === 'skills.get').slice(1)) {
      answers.push(hash =>
        peer.socket.frame({
          id,
          result: { skill: skill('count', { hash }), text: `text ${hash}`, instructions: '' }
        })
      );
    }
    answers[1]('newer');
    await settle();
    answers[0]('older');
    await settle();
    expect([skills.detail?.text, skills.selected?.hash]).toEqual(['text newer', 'newer']);
  });

  it('are all listed if one text cannot be read, which says why', async () => {
    const skills = new Skills(peer.client);
    await skills.open();
    peer.results['skills.get'] = new Refusal(-32000, 'It cannot be read.');
    skills.select('home:count');
    await settle();
    expect([skills.skills?.length, skills.problem]).toEqual([2, null]);
    expect([skills.detail, skills.detailProblem]).toEqual([null, 'It cannot be read.']);
  });

  it('keep the list and say why it cannot be reloaded', async () => {
    const skills = new Skills(peer.client);
    await skills.open();
    peer.results['skills.list'] = new Refusal(-32000, 'The disk is gone.');
    await skills.load();
    expect([skills.skills?.length, skills.problem]).toEqual([2, 'The disk is gone.']);
  });
});

describe('a skill run', () => {
  it('is followed from its start through each cell to its result', async () => {
    const runs = new SkillRuns(peer.client);
    peer.results['skills.runs'] = { runs: [] };
    runs.show('count');
    await settle();
    peer.results['skills.run'] = () => {
      peer.results['skills.runs'] = { runs: [run('r1', { status: 'running' })] };
      return { runId: 'r1' };
    };
    await runs.start({ rows: 3 }, 'work/a.ipynb');
    expect(peer.askedFor('skills.run')).toEqual([
      { name: 'count', parameters: { rows: 3 }, path: 'work/a.ipynb' }
    ]);
    peer.emit('skills.run_progress', {
      runId: 'r1',
      skill: 'count',
      index: 2,
      total: 5,
      cell: 'Load',
      line: '50 %'
    });
    expect(runs.current?.progress).toEqual({ index: 2, total: 5, cell: 'Load', line: '50 %' });
    expect(runs.result).toBeNull();
    expect(peer.askedFor('skills.result')).toHaveLength(0);
    peer.results['skills.result'] = { run: run('r1'), outputs: [{ output_type: 'stream' }], text: 'x' };
    peer.emit('skills.run_finished', run('r1'));
    await settle();
    expect(runs.current?.status).toBe('ok');
    expect(runs.result?.outputs).toHaveLength(1);
  });

  it('of another skill, or of an agent, does not replace the current one', async () => {
    const runs = new SkillRuns(peer.client);
    peer.results['skills.runs'] = { runs: [run('r1')] };
    peer.results['skills.result'] = { run: run('r1'), outputs: [], text: '' };
    runs.show('count');
    await settle();
    peer.emit('skills.run_started', run('other', { skill: 'plot', status: 'running' }));
    peer.emit('skills.run_started', run('r2', { status: 'running', by: 'agent:main' }));
    expect(runs.runs.map(one => one.runId)).toEqual(['r2', 'r1']);
    expect(runs.current?.runId).toBe('r1');
  });

  it('is stopped by id, and reports if that fails', async () => {
    const runs = new SkillRuns(peer.client);
    peer.results['skills.runs'] = { runs: [run('r1', { status: 'running' })] };
    runs.show('count');
    await settle();
    peer.results['skills.stop'] = { ok: true };
    await runs.stop('r1');
    expect(peer.askedFor('skills.stop')).toEqual([{ runId: 'r1' }]);
    expect(runs.problem).toBeNull();
    peer.emit('skills.run_finished', run('r1', { status: 'stopped' }));
    expect(runs.current?.status).toBe('stopped');
    peer.results['skills.stop'] = new Refusal(-32000, 'There is no such run.');
    await runs.stop('r1');
    expect(runs.problem).toBe('There is no such run.');
  });

  it('that cannot start says why, and can be retried', async () => {
    const runs = new SkillRuns(peer.client);
    peer.results['skills.runs'] = { runs: [] };
    runs.show('count');
    await settle();
    peer.results['skills.run'] = new Refusal(-32000, '8 skills are running.');
    await runs.start({}, null);
    expect([runs.problem, runs.isStarting]).toEqual(['8 skills are running.', false]);
  });
});

describe('saving a notebook as a skill', () => {
  const PROPOSED = {
    name: 'count',
    description: 'Counts.',
    parameters: 'rows = 3',
    fields: [],
    problem: null
  };

  it('starts with the proposal and saves the user’s edits', async () => {
    const draft = new SkillDraft(peer.client);
    peer.results['skills.propose'] = PROPOSED;
    peer.results['skills.save'] = { skill: skill('count-rows') };
    await draft.begin('work/count.ipynb');
    expect(draft.draft).toMatchObject({ name: 'count', parameters: 'rows = 3', place: 'workspace' });
    draft.change({ name: 'count-rows', place: 'home' });
    expect((await draft.save())?.name).toBe('count-rows');
    expect(peer.askedFor('skills.save')).toEqual([
      {
        ...{ path: 'work/count.ipynb', name: 'count-rows', description: 'Counts.', parameters: 'rows = 3' },
        ...{ place: 'home', overwrite: false }
      }
    ]);
    expect(draft.path).toBeNull();
  });

  it('shows an error at its field, keeps the input, and clears it on the next change', async () => {
    const draft = new SkillDraft(peer.client);
    peer.results['skills.propose'] = PROPOSED;
    peer.results['skills.save'] = new Refusal(
      -32602,
      '`parameters`: The parameters cell does not parse: line 1.',
      {
        field: 'parameters'
      }
    );
    await draft.begin('count.ipynb');
    draft.change({ parameters: 'rows = ' });
    expect(await draft.save()).toBeNull();
    expect(draft.errors).toEqual({ parameters: 'The parameters cell does not parse: line 1.' });
    expect(draft.draft?.parameters).toBe('rows = ');
    draft.change({ parameters: 'rows = 3' });
    expect(draft.errors).toEqual({});
  });

  it('says why a notebook cannot be read', async () => {
    const draft = new SkillDraft(peer.client);
    peer.results['skills.propose'] = new Refusal(-32000, 'There is no such notebook.');
    await draft.begin('gone.ipynb');
    expect([draft.draft, draft.errors['']]).toEqual([null, 'There is no such notebook.']);
  });
});
