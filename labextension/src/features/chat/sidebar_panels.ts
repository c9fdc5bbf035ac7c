/** What features show in the sidebar in the place of the conversation. It knows none of them. */
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { ReactElement } from 'react';

/** `label` stands in the sidebar's menu and in the palette; `close` brings the conversation back. */
export interface SidebarPanel {
  readonly id: string;
  readonly label: string;
  readonly render: (close: () => void) => ReactElement;
}

export class SidebarPanels {
  /** A panel has come. */
  get added(): ISignal<this, SidebarPanel> {
    return this._added;
  }

  /** One has come or gone. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Throws where there is one of that id; disposing of the result takes it away again. */
  add(panel: SidebarPanel): IDisposable {
    if (this._panels.has(panel.id)) {
      throw new Error(`The sidebar has a panel '${panel.id}' already.`);
    }
    this._panels.set(panel.id, panel);
    this._added.emit(panel);
    this._changed.emit();
    return new DisposableDelegate(() => {
      this._panels.delete(panel.id);
      this._changed.emit();
    });
  }

  get(id: string): SidebarPanel | undefined {
    return this._panels.get(id);
  }

  private readonly _panels = new Map<string, SidebarPanel>();
  private readonly _added = new Signal<this, SidebarPanel>(this);
  private readonly _changed = new Signal<this, void>(this);
}
