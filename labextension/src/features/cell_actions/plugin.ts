/** Onyx on a cell and below an error: explain, fix, improve, and attach the cell to the message. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { isCodeCellModel } from '@jupyterlab/cells';
import type { Cell } from '@jupyterlab/cells';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import { MenuSvg, ToolbarButton } from '@jupyterlab/ui-components';
import type { Widget } from '@lumino/widgets';

import { cellRequest, cellRequestMode } from './cell_requests';
import type { CellAction } from './cell_requests';
import { cellItem, errorOf } from '../notebooks/notebook_context';
import { IOnyxChat } from '../../tokens';
import { addErrorOutputs } from './error_output';
import { onyxIcon } from '../../shared/onyx_icon';
import { IN_MENU, commandLabel } from '../../shared/command_label';

const Command = {
  explain: 'onyx:explain-cell',
  explainOutput: 'onyx:explain-output',
  fix: 'onyx:fix-cell',
  improve: 'onyx:improve-cell',
  add: 'onyx:add-cell-to-chat'
};

interface OfCell {
  panel: NotebookPanel;
  cell: Cell;
}

export const cellActionsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:cell-actions',
  description: 'Explain, fix and improve cells, and explain and fix errors, with one click.',
  autoStart: true,
  requires: [IOnyxChat, IRenderMimeRegistry],
  optional: [INotebookTracker, ITranslator, IToolbarWidgetRegistry, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    chat: IOnyxChat,
    rendermime: IRenderMimeRegistry,
    tracker: INotebookTracker | null,
    translator: ITranslator | null,
    toolbars: IToolbarWidgetRegistry | null,
    palette: ICommandPalette | null
  ): void => {
    if (!tracker) {
      return; // Notebook 7's file list
    }
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const actions = new CellActions(chat, tracker, trans);
    addCommands(app, actions, trans);
    Object.values(Command).forEach(command => palette?.addItem({ command, category: 'Onyx' }));
    addErrorOutputs(
      rendermime,
      { explain: node => actions.onError('explain', node), fix: node => actions.onError('fix', node) },
      trans
    );
    const menu = new MenuSvg({ commands: app.commands });
    Object.values(Command).forEach(command => menu.addItem({ command, args: IN_MENU }));
    toolbars?.addFactory<Cell>('Cell', 'onyx', () => menuButton(menu, trans));
  }
};

/** The actions on a cell: each opens the sidebar and sends a message with the cell attached. */
class CellActions {
  constructor(
    private readonly chat: IOnyxChat,
    private readonly tracker: INotebookTracker,
    private readonly trans: TranslationBundle
  ) {}

  get active(): OfCell | null {
    const { currentWidget: panel, activeCell: cell } = this.tracker;
    return panel && cell ? { panel, cell } : null;
  }

  get hasOutput(): boolean {
    const model = this.active?.cell.model;
    return model !== undefined && isCodeCellModel(model) && model.outputs.length > 0;
  }

  get hasError(): boolean {
    const { active } = this;
    return active !== null && errorOf(active.cell.model) !== null;
  }

  run(action: CellAction, of: OfCell | null = this.active): void {
    if (!of) {
      return;
    }
    const isError = action === 'fix' || (action !== 'improve' && errorOf(of.cell.model) !== null);
    const item = cellItem(of.panel, of.cell, this.trans, isError ? 'error' : 'cell');
    const { model } = this.chat;
    const mode = cellRequestMode(action, model.mode, model.session.isRunning);
    this.chat.reveal();
    model.ask(cellRequest(action, item, this.trans), [item], mode);
  }

  /** All selected cells; the active one is always among them. */
  add(): void {
    const panel = this.tracker.currentWidget;
    if (panel) {
      panel.content.selectedCells.forEach(cell =>
        this.chat.model.chips.add(cellItem(panel, cell, this.trans))
      );
      this.chat.reveal({ focusInput: true });
    }
  }

  /** The error that this output shows. */
  onError(action: 'explain' | 'fix', output: HTMLElement): void {
    let found: OfCell | null = null;
    this.tracker.forEach(panel => {
      const cell = panel.content.widgets.find(one => one.node.contains(output));
      found = cell ? { panel, cell } : found;
    });
    if (found) {
      this.run(action, found);
    }
  }
}

function addCommands(app: JupyterFrontEnd, actions: CellActions, trans: TranslationBundle): void {
  const add = (
    id: string,
    words: { inMenu: string; alone: string },
    execute: () => void,
    isVisible: () => boolean = () => true
  ) =>
    app.commands.addCommand(id, {
      label: commandLabel(words.alone, trans, words.inMenu),
      caption: words.alone,
      isEnabled: () => actions.active !== null && isVisible(),
      isVisible,
      execute,
      describedBy: { args: { type: 'object', properties: { isMenu: { type: 'boolean' } } } }
    });
  const explain = { inMenu: trans.__('Explain'), alone: trans.__('Explain the active cell') };
  const output = {
    inMenu: trans.__('Explain the output'),
    alone: trans.__('Explain the active cell’s output')
  };
  const fix = { inMenu: trans.__('Fix'), alone: trans.__('Fix the active cell') };
  const improve = { inMenu: trans.__('Improve'), alone: trans.__('Improve the active cell') };
  const toChat = { inMenu: trans.__('Add to chat'), alone: trans.__('Add the selected cells to the chat') };
  add(Command.explain, explain, () => actions.run('explain'));
  add(
    Command.explainOutput,
    output,
    () => actions.run('explain-output'),
    () => actions.hasOutput && !actions.hasError
  );
  add(
    Command.fix,
    fix,
    () => actions.run('fix'),
    () => actions.hasError
  );
  add(Command.improve, improve, () => actions.run('improve'));
  add(Command.add, toChat, () => actions.add());
}

function menuButton(menu: MenuSvg, trans: TranslationBundle): Widget {
  const button = new ToolbarButton({
    icon: onyxIcon,
    tooltip: trans.__('Onyx: explain, improve, add to the chat'),
    onClick: () => {
      const { left, bottom } = button.node.getBoundingClientRect();
      menu.open(left, bottom);
    }
  });
  button.node.dataset.onyx = 'cell-menu';
  return button;
}
