/**
 * The names of our commands. In a mixed list without headings, such as JupyterLab's palette, each name says
 * that it belongs to Onyx; in a menu, where the place says that, it doesn't.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** Menus pass this to our commands; the palette passes nothing, so that it finds a command's shortcut. */
export const IN_MENU = { isMenu: true };

export function commandLabel(
  label: string,
  trans: TranslationBundle,
  inMenu = label
): (args: ReadonlyPartialJSONObject) => string {
  return args => (args['isMenu'] ? inMenu : trans.__('Onyx: %1', label));
}
