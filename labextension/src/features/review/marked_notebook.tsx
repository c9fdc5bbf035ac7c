/**
 * Marks in an open notebook: a line in each changed cell, and a bar above them. It never writes to the
 * notebook, doesn't move focus or scroll by itself, and leaves nothing behind when it is disposed.
 */
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { PanelLayout } from '@lumino/widgets';

import type { CellMarkViewProps } from './cell_mark_view';
import type { DrawDiff } from '../../shared/drawn_diff';
import { ReviewBar } from './review_bar';
import type { NotebookMarks } from './notebook_marks';
import { shownMarks } from './shown_marks';
import type { CellNow, ShownMark } from './shown_marks';
import { CellMarkWidget } from './cell_mark';

const REDRAW_DELAY_MS = 40;

export class MarkedNotebook implements IDisposable {
  constructor(
    private readonly panel: NotebookPanel,
    readonly marks: NotebookMarks,
    private readonly trans: TranslationBundle,
    private readonly drawDiff: DrawDiff
  ) {
    marks.changed.connect(this._draw, this);
    panel.content.modelContentChanged.connect(this._drawSoon, this);
    panel.content.modelChanged.connect(this._drawSoon, this);
    panel.context.pathChanged.connect(this._onPath, this);
    panel.disposed.connect(this.dispose, this);
  }

  get shown(): readonly ShownMark[] {
    return this._shown;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The mark of the active cell: its own, else that of a cell removed below it. */
  get active(): ShownMark | null {
    const id = this.panel.content.activeCell?.model.id;
    return (
      this._shown.find(one => one.mark.cellId === id) ??
      this._shown.find(one => one.kind === 'deleted' && one.under === id) ??
      null
    );
  }

  /** Goes to the next change, or with -1 to the previous one, wrapping around at the end. */
  async step(by: 1 | -1): Promise<void> {
    if (this._shown.length === 0) {
      return;
    }
    const stops = this._shown.map(one => this._stop(one));
    const here = this.panel.content.activeCellIndex;
    const at = this._current && stops[this._current.index] === here ? this._current.index : null;
    const count = stops.length;
    const index = at === null ? this._nearest(stops, here, by) : (at + by + count) % count;
    await this._goTo(index);
  }

  /** Goes to the first change. */
  async first(): Promise<void> {
    if (this._shown.length > 0) {
      await this._goTo(0);
    }
  }

  toggleDiff(cellId: string): void {
    if (!this._open.delete(cellId)) {
      this._open.add(cellId);
    }
    this._draw();
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    clearTimeout(this._timer);
    Signal.clearData(this);
    this.marks.dispose();
    this._widgets.forEach(widget => widget.dispose());
    this._bar?.dispose();
    this._coloured.forEach(cell => uncolour(cell));
  }

  private _onPath(): void {
    this.marks.refresh();
  }

  private _drawSoon(): void {
    if (this.marks.marks.length > 0 || this._shown.length > 0) {
      this._timer ??= setTimeout(() => this._draw(), REDRAW_DELAY_MS);
    }
  }

  private _draw(): void {
    clearTimeout(this._timer);
    this._timer = undefined;
    if (this._isDisposed || !this.panel.content.model) {
      return;
    }
    const cells = this.panel.content.widgets;
    const now: CellNow[] = cells.map(cell => ({
      id: cell.model.id,
      cellType: cell.model.type,
      source: cell.model.sharedModel.getSource()
    }));
    this._shown = shownMarks(this.marks.marks, now);
    const byId = new Map(cells.map((cell, index) => [cell.model.id, { cell, index }] as const));
    const seen = new Set<string>();
    const below = new Map<Cell, number>();
    for (const shown of this._shown) {
      const id = shown.mark.cellId;
      const own = byId.get(id);
      const host = own?.cell ?? (shown.under === null ? cells[0] : byId.get(shown.under)?.cell);
      if (!host) {
        continue;
      }
      seen.add(id);
      const props = this._props(shown, own ? now[own.index].source : null, byId);
      this._place(host, shown, props, below);
    }
    this._removeStale(seen);
    this._colour(byId);
    this._drawBar();
  }

  private _props(
    shown: ShownMark,
    source: string | null,
    cells: ReadonlyMap<string, { index: number }>
  ): CellMarkViewProps {
    const id = shown.mark.cellId;
    const above = shown.under === null ? undefined : cells.get(shown.under);
    return {
      shown,
      source,
      from: above
        ? this.trans.__('below cell %1', above.index + 1)
        : this.trans.__('the start of the notebook'),
      isOpen: this._open.has(id),
      isBusy: this.marks.isBusy,
      trans: this.trans,
      drawDiff: this.drawDiff,
      toggle: () => this.toggleDiff(id),
      keep: () => void this.marks.keep([id]),
      revert: () => void this.marks.revert([id])
    };
  }

  /** Above the text of its own cell; for a removed cell, at the end of the cell that it was below. */
  private _place(host: Cell, shown: ShownMark, props: CellMarkViewProps, below: Map<Cell, number>): void {
    const id = shown.mark.cellId;
    let widget = this._widgets.get(id);
    if (widget && (widget.isDisposed || widget.parent !== host || widget.shown.kind !== shown.kind)) {
      widget.dispose();
      widget = undefined;
    }
    if (widget) {
      widget.setProps(props);
    } else {
      const isBelow = shown.kind === 'deleted' && shown.under !== null;
      if (isBelow && host.isPlaceholder()) {
        this._drawWhenReady(host);
        return;
      }
      widget = new CellMarkWidget(props);
      this._widgets.set(id, widget);
      const layout = host.layout as PanelLayout;
      layout.insertWidget(isBelow ? layout.widgets.length : (below.get(host) ?? 0), widget);
    }
    if (shown.kind === 'deleted' && shown.under === null) {
      below.set(host, (below.get(host) ?? 0) + 1);
    }
  }

  /** The cell's own parts are created when it is first shown, and would end up below. */
  private _drawWhenReady(host: Cell): void {
    if (!this._observedCells.has(host)) {
      this._observedCells.add(host);
      void host.ready.then(() => this._drawSoon());
    }
  }

  private _removeStale(seen: ReadonlySet<string>): void {
    for (const [id, widget] of this._widgets) {
      if (!seen.has(id)) {
        widget.dispose();
        this._widgets.delete(id);
        this._open.delete(id);
      }
    }
  }

  private _colour(cells: ReadonlyMap<string, { cell: Cell }>): void {
    const coloured = new Set<Cell>();
    for (const { mark, kind } of this._shown) {
      const cell = cells.get(mark.cellId)?.cell;
      if (cell) {
        cell.node.dataset.onyxMark = kind;
        coloured.add(cell);
      }
    }
    this._coloured.forEach(cell => coloured.has(cell) || uncolour(cell));
    this._coloured = coloured;
  }

  private _drawBar(): void {
    const needed = this._shown.length > 0 || this.marks.outcome !== null || this.marks.problem !== null;
    if (!this._bar && !needed) {
      return;
    }
    if (!this._bar) {
      this._bar = new Bar(() => this._renderBar());
      this._bar.hide();
      this.panel.contentHeader.addWidget(this._bar);
    }
    if (needed === this._bar.isHidden) {
      this._keepScrollPosition(() => this._bar?.setHidden(!needed));
    }
    this._bar.update();
  }

  private _renderBar(): JSX.Element {
    const { marks } = this;
    return (
      <ReviewBar
        count={this._shown.length}
        isWorking={this._shown.some(one => one.mark.working)}
        canRevert={this._shown.some(one => !one.isYours)}
        isBusy={marks.isBusy}
        outcome={marks.outcome}
        problem={marks.problem}
        trans={this.trans}
        keepAll={() => void marks.keep(null)}
        revertAll={() => void marks.revert(null)}
        next={() => void this.step(1)}
        previous={() => void this.step(-1)}
        dismiss={() => marks.dismiss()}
      />
    );
  }

  /** The bar takes room above the notebook; keep what the user reads in the same place on the screen. */
  private _keepScrollPosition(change: () => void): void {
    const scroller = this.panel.content.outerNode;
    const before = scroller.getBoundingClientRect().top;
    change();
    requestAnimationFrame(() => {
      if (scroller.scrollTop > 0) {
        scroller.scrollTop += scroller.getBoundingClientRect().top - before;
      }
    });
  }

  private _stop(shown: ShownMark): number {
    const id = shown.kind === 'deleted' ? shown.under : shown.mark.cellId;
    return id === null ? 0 : this.panel.content.widgets.findIndex(cell => cell.model.id === id);
  }

  private _nearest(stops: readonly number[], here: number, by: 1 | -1): number {
    if (by > 0) {
      const index = stops.findIndex(stop => stop > here);
      return index < 0 ? 0 : index;
    }
    const before = stops.filter(stop => stop < here).length;
    return before > 0 ? before - 1 : stops.length - 1;
  }

  private async _goTo(index: number): Promise<void> {
    const { content } = this.panel;
    const cellIndex = Math.max(0, this._stop(this._shown[index]));
    content.mode = 'command';
    content.deselectAll();
    content.activeCellIndex = cellIndex;
    this._current = { index };
    await content.scrollToItem(cellIndex, 'smart').catch(() => undefined);
  }

  private _shown: readonly ShownMark[] = [];
  private readonly _widgets = new Map<string, CellMarkWidget>();
  private readonly _open = new Set<string>();
  private readonly _observedCells = new WeakSet<Cell>();
  private _coloured: ReadonlySet<Cell> = new Set();
  private _bar: ReactWidget | null = null;
  /** The mark that the user last went to. */
  private _current: { index: number } | null = null;
  private _isDisposed = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

class Bar extends ReactWidget {
  constructor(private readonly draw: () => JSX.Element) {
    super();
    this.addClass('onyx-ReviewBar');
    this.node.dataset.onyx = 'review-bar';
    this.node.setAttribute('role', 'toolbar');
  }

  protected override render(): JSX.Element {
    return this.draw();
  }
}

function uncolour(cell: Cell): void {
  delete cell.node.dataset.onyxMark;
}
