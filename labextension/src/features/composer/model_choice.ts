/** A model's short name, how it acts (it calls tools, or proposes cells), and how much it thinks. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ModelInfo } from '../../protocol/wire';

/** `auto` leaves it to the model's provider. */
export const TOOL_MODES = ['auto', 'cell', 'tools'] as const;
export type ToolMode = (typeof TOOL_MODES)[number];
export type Acting = Exclude<ToolMode, 'auto'>;

/** How much a model thinks before it answers, least first. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** What a message asks of its model; what is absent is left to the model's provider. */
export interface Manner {
  toolMode?: Acting;
  effort?: Effort;
}

/** How the model acts by default; null if it cannot be chosen or is unknown. */
export function defaultActing(models: readonly ModelInfo[], id: string): Acting | null {
  const model = models.find(one => one.id === id);
  return model && !model.locked ? (model.toolMode ?? 'tools') : null;
}

export function toolModeName(acting: Acting, trans: TranslationBundle): string {
  return acting === 'cell' ? trans.__('Acts in cells') : trans.__('Calls tools');
}

export function effortName(effort: Effort, trans: TranslationBundle): string {
  switch (effort) {
    case 'none':
      return trans.__('No thinking');
    case 'minimal':
      return trans.__('Minimal effort');
    case 'low':
      return trans.__('Low effort');
    case 'medium':
      return trans.__('Medium effort');
    case 'high':
      return trans.__('High effort');
    case 'xhigh':
      return trans.__('Extra high effort');
    case 'max':
      return trans.__('Maximum effort');
  }
}

/** `openai/gpt-x` → `gpt-x`; for a file only its name: `local//models/qwen.gguf` → `qwen`. */
export function modelName(id: string): string {
  const name = id.slice(id.indexOf('/') + 1);
  return name.endsWith('.gguf') ? name.slice(name.lastIndexOf('/') + 1, -'.gguf'.length) : name;
}
