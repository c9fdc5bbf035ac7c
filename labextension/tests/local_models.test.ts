import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { LocalModels, percent, formatSize, formatState } from '../src/features/local_models/local_models';
import type { LocalModelInfo } from '../src/protocol/wire';
import { Peer, Refusal, settle } from './peer';
import { localModel } from './local_model';

const BIG = localModel();
const SMALL = localModel({ id: 'local/small', title: 'Small 0.5B', bytes: 491_400_064, recommended: false });
const trans = nullTranslator.load('onyx_jupyter');
const choicesChanged = vi.fn();
let peer: Peer;
let models: LocalModels;
const progress = (data: LocalModelInfo) => peer.emit('local_models.progress', data);

beforeEach(async () => {
  vi.useFakeTimers();
  choicesChanged.mockClear();
  peer = new Peer();
  peer.results = { 'local_models.list': { models: [BIG, SMALL] } };
  peer.connect();
  models = new LocalModels(peer.client, choicesChanged);
  await models.open();
});
afterEach(() => {
  models.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('the local models', () => {
  it('are loaded best first, and the recommended one is offered', () => {
    expect(models.models).toEqual([BIG, SMALL]);
    expect(models.offered).toEqual(BIG);
  });

  it('update their progress from events, without reloading', async () => {
    const changed = vi.fn();
    models.changed.connect(changed);
    progress({ ...SMALL, state: 'fetching', doneBytes: 1000 });
    await settle();
    expect(models.models?.[1].doneBytes).toBe(1000);
    expect(models.models?.[0]).toEqual(BIG);
    expect(models.offered?.id).toBe(SMALL.id);
    expect(changed).toHaveBeenCalledTimes(1);
    expect(choicesChanged).not.toHaveBeenCalled();
    expect(peer.askedFor('local_models.list')).toHaveLength(1);
  });

  it('update the model choices when one is ready or removed, and end the offer', async () => {
    progress({ ...BIG, state: 'ready', doneBytes: BIG.bytes });
    await settle();
    expect(choicesChanged).toHaveBeenCalledTimes(1);
    expect(models.offered).toBeNull();
    progress(BIG);
    await settle();
    expect(choicesChanged).toHaveBeenCalledTimes(2);
  });

  it('are downloaded, paused and removed by id, and the answer is shown immediately', async () => {
    peer.results['local_models.fetch'] = { ...BIG, state: 'fetching' };
    await models.fetch(BIG);
    expect(models.models?.[0].state).toBe('fetching');
    peer.results['local_models.pause'] = { ...BIG, state: 'paused', doneBytes: 5 };
    await models.pause(BIG);
    expect(models.models?.[0]).toMatchObject({ state: 'paused', doneBytes: 5 });
    peer.results['local_models.remove'] = BIG;
    await models.remove({ ...BIG, shared: true });
    expect(models.models?.[0].state).toBe('missing');
    expect(peer.askedFor('local_models.fetch')).toEqual([{ id: BIG.id }]);
    expect(peer.askedFor('local_models.remove')).toEqual([{ id: BIG.id, shared: true }]);
  });

  it('say why an action failed', async () => {
    peer.results['local_models.remove'] = new Refusal(-32000, 'It is answering just now.');
    await models.remove(BIG);
    expect([models.refusal, models.problem]).toEqual(['It is answering just now.', null]);
  });

  it('are reloaded after a reconnect', async () => {
    peer.lose();
    peer.results['local_models.list'] = { models: [{ ...BIG, state: 'paused', doneBytes: 7 }] };
    await peer.comeBack();
    expect(models.models?.[0].doneBytes).toBe(7);
  });
});

describe('formatted', () => {
  it.each([
    [{}, 'Not on this machine'],
    [{ fitsMemory: false }, 'Not on this machine. Needs 1.60 GB of free memory'],
    [
      { state: 'fetching', doneBytes: 558_660_384, source: 'Hugging Face' },
      '50 % · 559 MB of 1.12 GB from Hugging Face'
    ],
    [
      { state: 'fetching', doneBytes: 1, fetcher: 'another process (7)' },
      '0 % · 0 MB of 1.12 GB, downloaded by another process (7)'
    ],
    [{ state: 'fetching', doneBytes: 1_117_320_768 }, 'Checking the file…'],
    [{ state: 'paused', doneBytes: 1_117_320_767 }, 'Paused at 99 % · 1.12 GB of 1.12 GB'],
    [{ state: 'ready', shared: true }, 'Ready, for everyone on this installation'],
    [{ state: 'failed' }, 'Download failed']
  ] as Array<[Partial<LocalModelInfo>, string]>)('%o', (more, words) => {
    expect(formatState(localModel(more), trans)).toBe(words);
  });

  it('uses readable sizes, and 100 percent only when complete', () => {
    expect([formatSize(491_400_064), formatSize(1_117_320_768)]).toEqual(['491 MB', '1.12 GB']);
    expect(percent(localModel({ doneBytes: 1_117_320_768 }))).toBe(100);
  });
});
