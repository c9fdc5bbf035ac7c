/** Attaches cells, files and selected text that are dropped onto the chat to the message. */
import type { MimeData } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { Drag } from '@lumino/dragdrop';

import type { ContextItem } from '../../protocol/wire';

const EVENTS = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'] as const;
const NATIVE_EVENTS = ['dragenter', 'dragover', 'dragleave', 'drop'] as const;
const DROP_CLASS = 'onyx-mod-drop';

export interface DropHost {
  /** The items that a JupyterLab drag carries; empty if none can be used. */
  itemsOf: (mimeData: MimeData) => ContextItem[];
  /** The current selection: text dragged from there is attached as that. */
  selection: () => ContextItem | null;
  add: (items: readonly ContextItem[]) => void;
}

export class ContextDrop implements IDisposable {
  constructor(
    private readonly node: HTMLElement,
    private readonly host: DropHost
  ) {
    EVENTS.forEach(name => node.addEventListener(name, this));
    NATIVE_EVENTS.forEach(name => node.addEventListener(name, this));
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    EVENTS.forEach(name => this.node.removeEventListener(name, this));
    NATIVE_EVENTS.forEach(name => this.node.removeEventListener(name, this));
  }

  handleEvent(event: Event): void {
    switch (event.type) {
      case 'lm-dragenter':
      case 'lm-dragover':
        return this._onOver(event as Drag.Event);
      case 'lm-drop':
        return this._onDrop(event as Drag.Event);
      case 'dragenter':
      case 'dragover':
        return this._onTextOver(event as DragEvent);
      case 'drop':
        return this._onTextDrop(event as DragEvent);
      default:
        return this._onLeave(event as DragEvent);
    }
  }

  private _onOver(event: Drag.Event): void {
    if (this.host.itemsOf(event.mimeData).length > 0) {
      event.preventDefault();
      event.stopPropagation();
      event.dropAction = event.proposedAction;
      this._mark(true);
    }
  }

  private _onDrop(event: Drag.Event): void {
    this._mark(false);
    const items = this.host.itemsOf(event.mimeData);
    if (items.length === 0) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    // The cells and files stay where they are.
    event.dropAction = event.proposedAction === 'move' ? 'none' : event.proposedAction;
    this.host.add(items);
  }

  private _onTextOver(event: DragEvent): void {
    if (event.dataTransfer?.types.includes('text/plain') && this.host.selection()) {
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      this._mark(true);
    }
  }

  private _onTextDrop(event: DragEvent): void {
    this._mark(false);
    const selection = this.host.selection();
    const text = event.dataTransfer?.getData('text/plain') ?? '';
    // Any other text goes into the input, as usual.
    if (selection && text.trim() === selection.text?.trim()) {
      event.preventDefault();
      this.host.add([selection]);
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
