/** A model of this machine, as the server tells of one, and the browser's view of a server that has it. */
import { LocalModels } from '../src/features/local_models/local_models';
import type { LocalModelInfo } from '../src/protocol/wire';
import { Peer } from './peer';

export const localModel = (more: Partial<LocalModelInfo> = {}): LocalModelInfo => ({
  id: 'local/big',
  title: 'Big 1.5B',
  bytes: 1_117_320_768,
  licence: 'Apache-2.0',
  parameters: '1.5 billion',
  contextTokens: 4096,
  state: 'missing',
  doneBytes: 0,
  leastMemory: 1_600_000_000,
  fitsMemory: true,
  recommended: true,
  removable: false,
  shared: false,
  ...more
});

/** Opened on a server whose one model can be fetched. */
export const fetchable = async (model: LocalModelInfo) => {
  const peer = new Peer();
  peer.results = {
    'local_models.list': { models: [model] },
    'local_models.fetch': { ...model, state: 'fetching' }
  };
  peer.connect();
  const localModels = new LocalModels(peer.client, () => undefined);
  await localModels.open();
  return { peer, localModels };
};
