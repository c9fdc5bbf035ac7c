/** Shows a panel where there is room for it. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { WidgetTracker } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

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
