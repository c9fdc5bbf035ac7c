/** Whether anything can answer, as far as this page knows without asking a model. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Assistant } from './assistant';
import type { LocalModels } from '../local_models/local_models';
import { modelName } from '../composer/model_choice';

/**
 * Why the `chosen` model (null for the agent's own) cannot answer, in one line with what to do; null if it
 * may be able to. Problems of a provider only show when it is asked.
 */
export function noModelReason(
  assistant: Pick<Assistant, 'agent' | 'component'>,
  localModels: Pick<LocalModels, 'models'>,
  chosen: string | null,
  trans: TranslationBundle
): string | null {
  const standard = assistant.agent?.model;
  const model = chosen ?? standard;
  if (model === undefined || (model !== '' && !model.startsWith('local/'))) {
    return null;
  }
  if (model === standard) {
    const state = assistant.component('model');
    return state && !state.ok ? [state.message, state.hint].filter(Boolean).join(' ') : null;
  }
  const files = localModels.models;
  const isThere = files === null || files.some(({ id, state }) => id === model && state === 'ready');
  return isThere || model.endsWith('.gguf')
    ? null
    : trans.__('%1 is not on this machine: choose another model below the input.', modelName(model));
}
