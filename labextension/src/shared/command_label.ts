/**
 * How our commands are called. In a list of everybody's commands, such as JupyterLab's palette, which shows no headings,
 * each says itself that it is ours; in a menu, where its place says that, it does not.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** What a menu gives to a command of ours; the palette gives nothing, so that it finds the command's shortcut. */
export const IN_MENU = { isMenu: true };

export function commandLabel(
  label: string,
  trans: TranslationBundle,
  inMenu = label
): (args: ReadonlyPartialJSONObject) => string {
  return args => (args['isMenu'] ? inMenu : trans.__('Onyx: %1', label));
}
