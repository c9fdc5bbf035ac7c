/**
 * “Add to Onyx’s Knowledge” in the file browser's context menu, with a notification that shows the progress.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { KnowledgeIntake } from './knowledge_intake';
import { serverPath } from '../notebooks/notebook_open';
import type { KnowledgeItemInfo } from '../../protocol/wire';
import { IOnyxConnection } from '../../tokens';
import { onyxIcon } from '../../shared/onyx_icon';

const Command = { add: 'onyx:add-to-knowledge' };
const SELECTOR = '.jp-DirListing-item';
const RANK = 20; // after JupyterLab's own ways of opening and changing a file
const SHOWN_MS = 8_000;

export const knowledgePlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:knowledge',
  description: 'Adds files and folders to the documents that Onyx finds.',
  autoStart: true,
  requires: [IOnyxConnection],
  optional: [IFileBrowserFactory, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    factory: IFileBrowserFactory | null,
    translator: ITranslator | null
  ): void => {
    if (!factory) {
      return;
    }
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const stop = (itemId: string) => void intake.stop(itemId).catch(() => undefined);
    const intake = new KnowledgeIntake(client, {
      show: item =>
        Notification.emit(progressText(item, trans), 'in-progress', { ...stopAction(item, trans, stop) }),
      update: (id, item) => void Notification.update({ id, ...notice(item, trans, stop) }),
      refused: (path, reason) =>
        void Notification.error(trans.__('Onyx cannot add “%1”. %2', path, reason), { autoClose: SHOWN_MS })
    });
    const selected = () => [...(factory.tracker.currentWidget?.selectedItems() ?? [])];
    app.commands.addCommand(Command.add, {
      label: trans.__('Add to Onyx’s Knowledge'),
      caption: trans.__('Let Onyx search these files in every conversation'),
      icon: onyxIcon.bindprops({ stylesheet: 'menuItem' }),
      isVisible: () => selected().length > 0,
      execute: () => intake.add(selected().map(item => serverPath(item)))
    });
    app.contextMenu.addItem({ command: Command.add, selector: SELECTOR, rank: RANK });
  }
};

function notice(item: KnowledgeItemInfo, trans: TranslationBundle, stop: (itemId: string) => void) {
  if (item.state === 'waiting' || item.state === 'reading') {
    return {
      message: progressText(item, trans),
      type: 'in-progress' as const,
      ...stopAction(item, trans, stop)
    };
  }
  if (item.state === 'failed') {
    const message = trans.__('Onyx cannot read “%1”. %2', item.title, item.problem ?? '');
    return { message, type: 'error' as const, progress: undefined, actions: [], autoClose: false as const };
  }
  if (item.state === 'stopped') {
    const message = trans.__('Stopped reading “%1”. %2', item.title, passages(item, trans));
    return { message, type: 'info' as const, progress: undefined, actions: [], autoClose: SHOWN_MS };
  }
  if (item.problemCount > 0) {
    const message = trans.__(
      'Onyx has read “%1”, except %2. %3',
      item.title,
      trans._n('one file or part of it', '%1 files or parts of them', item.problemCount),
      passages(item, trans)
    );
    const actions = [{ label: trans.__('Show why'), callback: () => showProblems(item, trans) }];
    return { message, type: 'warning' as const, progress: undefined, actions, autoClose: false as const };
  }
  const message = trans.__('Onyx has read “%1”. %2', item.title, passages(item, trans));
  return { message, type: 'success' as const, progress: undefined, actions: [], autoClose: SHOWN_MS };
}

function progressText(item: KnowledgeItemInfo, trans: TranslationBundle): string {
  return item.total > 1
    ? trans.__('Onyx reads “%1”: %2 of %3 files', item.title, item.done, item.total)
    : trans.__('Onyx reads “%1”', item.title);
}

function stopAction(item: KnowledgeItemInfo, trans: TranslationBundle, stop: (itemId: string) => void) {
  return {
    autoClose: false as const,
    progress: item.total > 1 ? item.done / item.total : undefined,
    actions: [{ label: trans.__('Stop'), callback: () => stop(item.itemId) }]
  };
}

function passages(item: KnowledgeItemInfo, trans: TranslationBundle): string {
  return trans._n('One passage can be found.', '%1 passages can be found.', item.chunks);
}

function showProblems(item: KnowledgeItemInfo, trans: TranslationBundle): void {
  const body = new Widget();
  body.node.dataset.onyx = 'knowledge-problems';
  body.addClass('onyx-KnowledgeProblems');
  const problems = item.problems ?? [];
  for (const { path, message } of problems) {
    const name = Object.assign(document.createElement('dt'), { textContent: path });
    body.node.append(name, Object.assign(document.createElement('dd'), { textContent: message }));
  }
  if (item.problemCount > problems.length) {
    const left = trans.__('… and %1 more', item.problemCount - problems.length);
    body.node.append(Object.assign(document.createElement('dt'), { textContent: left }));
  }
  void showDialog({
    title: trans.__('What Onyx cannot read in “%1”', item.title),
    body,
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}
