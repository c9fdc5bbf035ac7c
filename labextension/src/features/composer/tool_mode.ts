/** How a model acts: it calls tools, or proposes cells. The server says which one suits a model. */
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
