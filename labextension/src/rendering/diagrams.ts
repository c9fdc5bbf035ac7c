/** Diagrams in an answer: the source at once, later replaced by an image, which runs and loads nothing. */
import { LruCache } from '@jupyterlab/coreutils';

/** Longer ones stay text: a frame shares its time with the page. */
export const MAX_CHARS = 20_000;
const MAX_SIDE_PX = 4_000;
const KEPT = 50;

export interface Diagrams {
  /** An element that shows the source at once, and the diagram instead when it is drawn. */
  place: (source: string) => HTMLElement;
}

/** Draws one diagram as SVG. Rejects with mermaid's message if it cannot. */
export type DrawDiagram = (source: string, isDark: boolean) => Promise<string>;

interface DiagramWords {
  diagram: string;
  failed: (reason: string) => string;
}

export class FramedDiagrams implements Diagrams {
  constructor(
    private readonly draw: DrawDiagram,
    private readonly words: DiagramWords
  ) {
    // The page's theme can change without a redraw.
    new MutationObserver(() => this._redraw()).observe(document.body, {
      attributeFilter: ['data-jp-theme-light']
    });
  }

  place(source: string): HTMLElement {
    const host = document.createElement('figure');
    host.className = 'onyx-Diagram';
    host.dataset.onyx = 'diagram';
    host.append(sourceOf(source));
    if (source.length <= MAX_CHARS) {
      this._placed.add({ host: new WeakRef(host), source });
      this._show(host, source);
    }
    return host;
  }

  private _show(host: HTMLElement, source: string): void {
    const isDark = document.body.dataset.jpThemeLight === 'false';
    const key = `${isDark} ${source}`;
    const drawn = this._drawn.get(key);
    if (drawn) {
      host.replaceChildren(picture(drawn, this.words.diagram));
      return;
    }
    this.draw(source, isDark).then(
      svg => {
        this._drawn.set(key, svg);
        host.replaceChildren(picture(svg, this.words.diagram));
      },
      (error: Error) => {
        const note = document.createElement('figcaption');
        note.textContent = this.words.failed(error.message);
        host.replaceChildren(sourceOf(source), note);
      }
    );
  }

  private _redraw(): void {
    for (const placed of this._placed) {
      const host = placed.host.deref();
      if (!host?.isConnected) {
        this._placed.delete(placed);
      } else {
        this._show(host, placed.source);
      }
    }
  }

  private readonly _placed = new Set<{ host: WeakRef<HTMLElement>; source: string }>();
  /** A block that is redrawn with each word of an answer shows the same diagram at once. */
  private readonly _drawn = new LruCache<string, string>({ maxSize: KEPT });
}

function sourceOf(source: string): HTMLElement {
  const block = document.createElement('pre');
  block.textContent = source;
  return block;
}

/** At its own size, which mermaid's SVGs only have in the view box. */
function picture(svg: string, name: string): HTMLImageElement {
  const image = new Image();
  const box = /<svg[^>]*\sviewBox="[-\d.e]+ [-\d.e]+ ([\d.e]+) ([\d.e]+)"/i.exec(svg);
  if (box) {
    [image.width, image.height] = box.slice(1).map(side => Math.min(MAX_SIDE_PX, Math.ceil(Number(side))));
  }
  image.alt = name;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  return image;
}
