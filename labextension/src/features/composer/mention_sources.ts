/**
 * What can be mentioned with `@` on this page: cells, variables, files, notebooks, the selection, the last
 * error.
 */
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ContextItem } from '../../protocol/wire';
import { itemPlace } from './context_items';
import type { MentionOption, MentionSources } from './mentions';
import {
  cellItem,
  cellSelection,
  cellTitle,
  editorSelection,
  lastError
} from '../notebooks/notebook_context';
import { serverPath } from '../notebooks/notebook_open';
import { fileName, firstLine } from '../../shared/short_text';

export interface PageParts {
  notebooks: INotebookTracker | null;
  editors: IEditorTracker | null;
  contents: Pick<Contents.IManager, 'get'>;
  /** The names of a notebook's variables, each with a short description. */
  variables: (path: string) => Promise<ReadonlyArray<{ name: string; detail: string }>>;
  /** Whether a text file is in front rather than a notebook. */
  isEditorInFront: () => boolean;
  trans: TranslationBundle;
}

export class PageMentions implements MentionSources {
  constructor(private readonly page: PageParts) {}

  now(): MentionOption[] {
    return [...this._selection(), ...this._error(), ...this._cells(), ...this._notebooks()];
  }

  async variables(): Promise<MentionOption[]> {
    const panel = this._panel;
    if (!panel) {
      return [];
    }
    const path = serverPath(panel.context);
    const found = await this.page.variables(path);
    return found.map(({ name, detail }) => ({
      section: 'variables',
      name,
      detail,
      isCode: true,
      item: { type: 'variable', path, name }
    }));
  }

  /** The contents of the folder typed so far; without one, of the notebook's folder. */
  async files(query: string): Promise<MentionOption[]> {
    const slash = query.lastIndexOf('/');
    const folder = slash >= 0 ? query.slice(0, slash) : this._folder;
    const listing = await this.page.contents.get(folder, { content: true });
    const entries = (Array.isArray(listing.content) ? listing.content : []) as Contents.IModel[];
    return entries
      .map(entry => fileOption(entry))
      .sort((left, right) => left.name.localeCompare(right.name))
      .sort((left, right) => Number(!!left.completion) - Number(!!right.completion));
  }

  /** The current selection, if any. */
  selection(): ContextItem | null {
    const { notebooks, editors, trans } = this.page;
    return this.page.isEditorInFront() ? editorSelection(editors) : cellSelection(notebooks, trans);
  }

  private get _panel() {
    return this.page.notebooks?.currentWidget ?? null;
  }

  private get _folder(): string {
    const path = this._panel ? serverPath(this._panel.context) : '';
    return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
  }

  private _selection(): MentionOption[] {
    const item = this.selection();
    return item
      ? [
          {
            section: 'selection',
            name: firstLine(item.text ?? ''),
            isCode: true,
            detail: itemPlace(item, this.page.trans),
            item
          }
        ]
      : [];
  }

  private _error(): MentionOption[] {
    const panel = this._panel;
    const found = panel && lastError(panel);
    if (!panel || !found) {
      return [];
    }
    const item = cellItem(panel, found.cell, this.page.trans, 'error');
    const name = firstLine(`${found.error.ename}: ${found.error.evalue}`);
    return [{ section: 'error', name, detail: item.label ?? '', isCode: true, item }];
  }

  private _cells(): MentionOption[] {
    const panel = this._panel;
    if (!panel) {
      return [];
    }
    const { trans } = this.page;
    return panel.content.widgets.flatMap((cell, index) => {
      const name = cellTitle(cell.model);
      const detail = trans.__('cell %1', index + 1);
      const isCode = cell.model.type === 'code';
      return name
        ? [{ section: 'cells' as const, name, detail, isCode, item: cellItem(panel, cell, trans) }]
        : [];
    });
  }

  private _notebooks(): MentionOption[] {
    const found: MentionOption[] = [];
    this.page.notebooks?.forEach(panel => {
      const path = serverPath(panel.context);
      if (panel === this._panel) {
        return; // it is offered separately
      }
      found.push({
        section: 'notebooks',
        name: fileName(path),
        detail: path,
        item: { type: 'notebook', path }
      });
    });
    return found;
  }
}

function fileOption(entry: Contents.IModel): MentionOption {
  if (entry.type === 'directory') {
    return { section: 'files', name: `${entry.name}/`, completion: `${entry.path}/` };
  }
  const type = entry.type === 'notebook' ? 'notebook' : 'file';
  return { section: 'files', name: entry.name, item: { type, path: entry.path } };
}
