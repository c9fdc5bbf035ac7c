/**
 * One block of Markdown, drawn through the allow-list. The old rendering stays until the new one, formulas
 * included, is ready behind it; a growing block is redrawn no more often than its own cost allows.
 */
import { memo, useEffect, useRef } from 'react';

import { hasCell } from './cell_references';
import { DrawScheduler } from './draw_scheduler';
import { drawMarkdown } from '../rendering/draw_markdown';
import { linkNames } from './text_links';
import type { NotebookOf } from './text_links';
import { useUi } from './ui_context';
import type { Ui } from './ui_context';

/** Drawing takes at most one part in this many of the time while text streams in. */
const COST_FACTOR = 4;
const SHORTEST_PAUSE_MS = 60;
const TYPESET_TIMEOUT_MS = 1500;
const turns = new DrawScheduler();

interface MarkdownBlockViewProps {
  source: string;
  finished: boolean;
  /** A new function links named cells again. */
  notebookOf?: NotebookOf;
}

export const MarkdownBlockView = memo(function MarkdownBlockView(props: MarkdownBlockViewProps): JSX.Element {
  const { source, finished } = props;
  const ui = useUi();
  const notebookOf = hasCell(source) ? props.notebookOf : undefined;
  const node = useRef<HTMLDivElement>(null);
  const painter = useRef<BlockPainter | null>(null);
  useEffect(() => {
    painter.current ??= new BlockPainter(node.current!, ui);
    painter.current.show(source, finished, notebookOf);
  }, [source, finished, notebookOf, ui]);
  useEffect(
    () => () => {
      painter.current?.dispose();
      painter.current = null;
    },
    []
  );
  return <div ref={node} className="onyx-Block" />;
});

/** Draws the newest source into a node, one drawing at a time. */
class BlockPainter {
  constructor(
    private readonly node: HTMLElement,
    private readonly ui: Ui
  ) {}

  show(source: string, finished: boolean, notebookOf?: NotebookOf): void {
    if (source !== this._wanted.source || notebookOf !== this._wanted.notebookOf) {
      this._wanted = { source, notebookOf };
    }
    if (finished) {
      this._pauseUntil = 0;
    }
    this._next();
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
  }

  private _next(): void {
    if (this._isDisposed || this._isPainting || this._wanted === this._shown) {
      return;
    }
    clearTimeout(this._timer);
    const pause = this._pauseUntil - performance.now();
    if (pause > 0) {
      this._timer = setTimeout(() => this._next(), pause);
      return;
    }
    this._isPainting = true;
    void this._paint().finally(() => {
      this._isPainting = false;
      this._next();
    });
  }

  private async _paint(): Promise<void> {
    await turns.next();
    if (this._isDisposed) {
      return;
    }
    const wanted = this._wanted;
    const { source } = wanted;
    const began = performance.now();
    const stage = document.createElement('div');
    stage.className = 'jp-RenderedHTMLCommon jp-RenderedMarkdown onyx-Markdown';
    const { content, formulas } = await drawMarkdown(source, this.ui.rendering.drawing).catch(() => ({
      content: source, // what cannot be drawn is shown as text, and not tried again
      formulas: []
    }));
    if (this._isDisposed) {
      return;
    }
    stage.append(content);
    linkNames(stage, source, this.ui, wanted.notebookOf);
    if (formulas.length > 0) {
      await this._typeset(stage, formulas);
    }
    this.node.replaceChildren(stage);
    this._shown = wanted;
    const cost = performance.now() - began;
    this._pauseUntil = performance.now() + Math.max(SHORTEST_PAUSE_MS, cost * COST_FACTOR);
  }

  /** Formulas must be in the page to be measured: invisibly, over the old rendering. */
  private async _typeset(stage: HTMLElement, formulas: readonly HTMLElement[]): Promise<void> {
    stage.classList.add('onyx-mod-staging');
    this.node.append(stage);
    await turns.next();
    const { typeset } = this.ui.rendering.drawing;
    const all = Promise.all(formulas.map(formula => typeset?.(formula)));
    const patience = new Promise<void>(resolve => setTimeout(resolve, TYPESET_TIMEOUT_MS));
    await Promise.race([all, patience]).catch(() => undefined);
    stage.classList.remove('onyx-mod-staging');
  }

  private _wanted: { source: string; notebookOf?: NotebookOf } = { source: '' };
  private _shown: typeof this._wanted | null = null;
  private _pauseUntil = 0;
  private _isPainting = false;
  private _isDisposed = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
