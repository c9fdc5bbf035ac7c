/** Makes Onyx's panels, and shows them where there is room. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import type { WidgetTracker } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

import { onyxIcon } from './onyx_icon';

/**
 * `isLab`: the main area holds more than one document. Notebook 7's holds only the notebook and ignores
 * anything else, so there the panel goes to the right sidebar, beside the chat.
 */
export async function showPanel<T extends Widget>(
  { shell }: JupyterFrontEnd,
  isLab: boolean,
  tracker: WidgetTracker<T>,
  create: () => T,
  type: string
): Promise<T> {
  const known = tracker.find(() => true);
  const panel = known ?? create();
  if (!known) {
    await tracker.add(panel);
  }
  if (!panel.isAttached) {
    shell.add(panel, isLab ? 'main' : 'right', { type });
  }
  shell.activateById(panel.id);
  return panel;
}

/** A panel of Onyx for the main area; `id` is its id in the page. */
export function mainPanel<T extends Widget>(id: string, label: string, content: T): MainAreaWidget<T> {
  const panel = new MainAreaWidget({ content });
  panel.id = id;
  panel.toolbar.hide();
  panel.title.label = label;
  panel.title.icon = onyxIcon;
  panel.title.closable = true;
  return panel;
}
