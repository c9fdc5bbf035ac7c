/** How much Onyx may do on its own; the server uses the same three names. */
import type { TranslationBundle } from '@jupyterlab/translation';

export type Mode = 'ask' | 'agent' | 'auto';

export const MODES: readonly Mode[] = ['ask', 'agent', 'auto'];

/** The mode of a message that names none. */
export const STANDARD_MODE: Mode = 'agent';

/** That mode, or the next stricter one that the server allows. */
export function allowedMode(mode: Mode, allowed: readonly Mode[]): Mode {
  const stricter = MODES.slice(0, MODES.indexOf(mode) + 1).reverse();
  return stricter.find(one => allowed.includes(one)) ?? MODES[0];
}

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

/** Why it cannot be chosen. */
export function lockedModeText(trans: TranslationBundle): string {
  return trans.__('Not allowed on this server');
}

/** What it means, in one line. */
export function modeDescription(mode: Mode, trans: TranslationBundle): string {
  switch (mode) {
    case 'ask':
      return trans.__('Read-only: changes and runs nothing.');
    case 'agent':
      return trans.__('Asks you before each change.');
    case 'auto':
      return trans.__('Acts without asking where your settings allow it, and asks about the rest.');
  }
}
