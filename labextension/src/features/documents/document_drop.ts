/** Files dropped onto a node: from the computer, to be uploaded, or from the file browser. */
import type { IDisposable } from '@lumino/disposable';
import type { Drag } from '@lumino/dragdrop';

import { serverPath } from '../notebooks/notebook_open';
import type { DroppedFile } from './uploads';

const OWN_EVENTS = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'] as const;
const NATIVE_EVENTS = ['dragenter', 'dragover', 'dragleave', 'drop'] as const;
const DROP_CLASS = 'onyx-mod-drop';
const BROWSER_FILES = 'application/x-jupyter-icontents';

interface DocumentDropHost {
  addFiles: (files: readonly DroppedFile[]) => void;
  addPaths: (paths: readonly string[]) => void;
}

export class DocumentDrop implements IDisposable {
  constructor(
    private readonly node: HTMLElement,
    private readonly host: DocumentDropHost
  ) {
    [...OWN_EVENTS, ...NATIVE_EVENTS].forEach(name => node.addEventListener(name, this));
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    [...OWN_EVENTS, ...NATIVE_EVENTS].forEach(name => this.node.removeEventListener(name, this));
  }

  handleEvent(event: Event): void {
    if (event.type === 'dragleave' || event.type === 'lm-dragleave') {
      this._onLeave(event as DragEvent);
    } else if (event.type.startsWith('lm-')) {
      this._onOwn(event as Drag.Event);
    } else {
      this._onNative(event as DragEvent);
    }
  }

  private _onOwn(event: Drag.Event): void {
    if (!event.mimeData.hasData(BROWSER_FILES)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const isDrop = event.type === 'lm-drop';
    // The files stay where they are.
    event.dropAction = isDrop && event.proposedAction === 'move' ? 'none' : event.proposedAction;
    this._mark(!isDrop);
    if (isDrop) {
      const paths = event.mimeData.getData(BROWSER_FILES) as string[];
      this.host.addPaths(paths.map(path => serverPath({ path })));
    }
  }

  /** Handled even if nothing comes of it: otherwise the browser would leave JupyterLab and show the file. */
  private _onNative(event: DragEvent): void {
    const { dataTransfer } = event;
    if (!dataTransfer?.types.includes('Files')) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    dataTransfer.dropEffect = 'copy';
    const isDrop = event.type === 'drop';
    this._mark(!isDrop);
    if (isDrop) {
      this.host.addFiles(filesIn(dataTransfer));
    }
  }

  private _onLeave(event: DragEvent): void {
    if (!this.node.contains(event.relatedTarget as Node | null)) {
      this._mark(false);
    }
  }

  private _mark(isOver: boolean): void {
    this.node.classList.toggle(DROP_CLASS, isOver);
  }

  private _isDisposed = false;
}

/** Read during the event: afterwards its data is gone. */
function filesIn({ items }: DataTransfer): DroppedFile[] {
  return [...items].flatMap(item => {
    const isFolder = item.webkitGetAsEntry?.()?.isDirectory ?? false;
    const file = item.kind === 'file' ? item.getAsFile() : null;
    return file ? [{ file, isFolder }] : [];
  });
}
