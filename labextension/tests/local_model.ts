/** A model of this machine, as the server tells of one. */
import type { LocalModelInfo } from '../src/protocol/wire';

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
