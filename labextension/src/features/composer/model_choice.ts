/** A model's short name, and how it acts: it calls tools, or proposes cells, whichever the server says suits it. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ModelInfo } from '../../protocol/wire';

/** `auto` leaves it to the model's provider. */
export const TOOL_MODES = ['auto', 'cell', 'tools'] as const;
export type ToolMode = (typeof TOOL_MODES)[number];
export type Acting = Exclude<ToolMode, 'auto'>;

/** How the model acts by default; null if it cannot be chosen or is unknown. */
export function defaultActing(models: readonly ModelInfo[], id: string): Acting | null {
  const model = models.find(one => one.id === id);
  return model && !model.locked ? (model.toolMode ?? 'tools') : null;
}

export function toolModeName(acting: Acting, trans: TranslationBundle): string {
  return acting === 'cell' ? trans.__('Acts in cells') : trans.__('Calls tools');
}

/** `openai/gpt-x` → `gpt-x`; for a file only its name: `local//models/qwen.gguf` → `qwen`. */
export function modelName(id: string): string {
  const name = id.slice(id.indexOf('/') + 1);
  return name.endsWith('.gguf') ? name.slice(name.lastIndexOf('/') + 1, -'.gguf'.length) : name;
}
