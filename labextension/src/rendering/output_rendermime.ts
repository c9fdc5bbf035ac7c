/**
 * Draws cell outputs under the allow-list: text, tables, images, Markdown and formulas. Other outputs
 * (scripts, widgets, plots that fetch their data) are shown by their text or image only.
 */
import {
  RenderMimeRegistry,
  errorRendererFactory,
  imageRendererFactory,
  textRendererFactory
} from '@jupyterlab/rendermime';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';

import { allowedContent } from './allow_list';
import { drawMarkdown } from './draw_markdown';
import type { Drawing } from './draw_markdown';

/** The order in which one of several formats of an output is chosen. */
const RANK = { markdown: 60, html: 50, latex: 70, svg: 80 };

export function outputRendermime(drawing: Drawing): IRenderMimeRegistry {
  const registry = new RenderMimeRegistry({
    initialFactories: [imageRendererFactory, textRendererFactory, errorRendererFactory]
  });
  const add = (mimeType: string, rank: number, draw: Draw) =>
    registry.addFactory(
      { safe: true, mimeTypes: [mimeType], createRenderer: () => new Output(mimeType, draw, drawing) },
      rank
    );
  add('text/html', RANK.html, async (html, host) => host.replaceChildren(allowedContent(html)));
  add('text/markdown', RANK.markdown, drawn);
  add('text/latex', RANK.latex, drawn);
  add('image/svg+xml', RANK.svg, async (svg, host) => {
    const image = new Image(); // as an image it neither runs nor loads anything
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    host.replaceChildren(image);
  });
  return registry;
}

type Draw = (text: string, host: HTMLElement, drawing: Drawing) => Promise<void>;

const drawn: Draw = async (text, host, drawing) => {
  const { content, formulas } = await drawMarkdown(text, drawing);
  host.replaceChildren(content);
  for (const formula of formulas) {
    await drawing.typeset?.(formula);
  }
};

class Output extends Widget implements IRenderMime.IRenderer {
  constructor(
    private readonly mimeType: string,
    private readonly draw: Draw,
    private readonly drawing: Drawing
  ) {
    super();
    this.addClass('jp-RenderedHTMLCommon');
    this.addClass('onyx-Output');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const data = model.data[this.mimeType];
    await this.draw(Array.isArray(data) ? data.join('') : String(data ?? ''), this.node, this.drawing);
  }
}
