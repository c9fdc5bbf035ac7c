/** The items of a drag within JupyterLab that can be attached: cells of a notebook, and files. */
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { MimeData } from '@lumino/coreutils';

import type { ContextItem } from '../../protocol/wire';
import { cellItem } from '../notebooks/notebook_context';
import { serverPath } from '../notebooks/notebook_open';

const CELLS = 'application/vnd.jupyter.cells';
/** The cells themselves, if they are of this page. */
const LIVE_CELLS = 'internal:cells';
const FILES = 'application/x-jupyter-icontents';

export function draggedItems(
  mimeData: Pick<MimeData, 'hasData' | 'getData'>,
  notebooks: Pick<INotebookTracker, 'find'> | null,
  trans: TranslationBundle
): ContextItem[] {
  if (mimeData.hasData(CELLS) && mimeData.hasData(LIVE_CELLS)) {
    const cells = mimeData.getData(LIVE_CELLS) as Cell[];
    const panel = notebooks?.find(one => one.content.widgets.includes(cells[0]));
    return panel ? cells.map(cell => cellItem(panel, cell, trans)) : [];
  }
  if (mimeData.hasData(FILES)) {
    const paths = mimeData.getData(FILES) as string[];
    return paths.map(path => fileItem(serverPath({ path })));
  }
  return [];
}

function fileItem(path: string): ContextItem {
  return { type: path.endsWith('.ipynb') ? 'notebook' : 'file', path };
}
