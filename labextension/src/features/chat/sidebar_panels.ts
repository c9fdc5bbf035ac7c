/** The panels that features show in the sidebar in place of the conversation. */
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { ReactElement } from 'react';
import { ViewModel } from '../../shared/view_model';

/**
 * `label` appears in the sidebar's menu and in the palette; `close` brings the conversation back. The command
 * that opens it is `command`, by default `onyx:panel-<id>`; `typed` in the input opens it as well. `invite` is
 * shown on the first page.
 */
export interface SidebarPanel {
  readonly id: string;
  readonly label: string;
  readonly command?: string;
  readonly typed?: string;
  readonly invite?: (open: () => void) => ReactElement;
  readonly render: (close: () => void) => ReactElement;
}

export class SidebarPanels extends ViewModel {
  /** A panel was added. */
  get added(): ISignal<this, SidebarPanel> {
    return this._added;
  }

  /** Throws if the id is taken; disposing of the result removes the panel. */
  add(panel: SidebarPanel): IDisposable {
    if (this._panels.has(panel.id)) {
      throw new Error(`The sidebar has a panel '${panel.id}' already.`);
    }
    this._panels.set(panel.id, panel);
    this._added.emit(panel);
    this.emit();
    return new DisposableDelegate(() => {
      this._panels.delete(panel.id);
      this.emit();
    });
  }

  get(id: string): SidebarPanel | undefined {
    return this._panels.get(id);
  }

  /** The panel that this input opens, if any. */
  typed(text: string): SidebarPanel | undefined {
    return [...this._panels.values()].find(({ typed }) => typed !== undefined && typed === text.trim());
  }

  /** What the first page shows of the panels; `open` gets the id of one. */
  invitations(open: (id: string) => void): ReactElement[] {
    return [...this._panels.values()].flatMap(({ id, invite }) => (invite ? [invite(() => open(id))] : []));
  }

  private readonly _panels = new Map<string, SidebarPanel>();
  private readonly _added = new Signal<this, SidebarPanel>(this);
}
