/** How much Onyx may do on its own; the server knows the same three names. */
import type { TranslationBundle } from '@jupyterlab/translation';

export type Mode = 'ask' | 'agent' | 'auto';

export const MODES: readonly Mode[] = ['ask', 'agent', 'auto'];

/** A message that names no mode is in this one. */
export const STANDARD_MODE: Mode = 'agent';

export function asMode(value: unknown): Mode | undefined {
  return MODES.find(mode => mode === value);
}

export function modeName(mode: Mode, trans: TranslationBundle): string {
  switch (mode) {
    case 'ask':
      return trans.__('Ask');
    case 'agent':
      return trans.__('Agent');
    case 'auto':
      return trans.__('Auto');
  }
}

/** What it means, in one line. */
export function modeMeaning(mode: Mode, trans: TranslationBundle): string {
  switch (mode) {
    case 'ask':
      return trans.__('Only looks. Changes and runs nothing.');
    case 'agent':
      return trans.__('Asks you before each change.');
    case 'auto':
      return trans.__('Acts unasked where your settings allow it, and asks for the rest.');
  }
}
