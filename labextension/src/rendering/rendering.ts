/** How text from a model, a tool or a page is drawn: answers, and outputs of notebooks. */
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';

import { DiagramFrame } from './diagram_frame';
import { FramedDiagrams } from './diagrams';
import type { Drawing } from './draw_markdown';
import { outputRendermime } from './output_rendermime';

export interface Rendering {
  readonly drawing: Drawing;
  /** Draws cell outputs, and nothing in them that is not on the allow-list. */
  readonly outputs: IRenderMimeRegistry;
}

export function makeRendering(
  { latexTypesetter }: IRenderMimeRegistry,
  languages: IEditorLanguageRegistry | null,
  trans: TranslationBundle
): Rendering {
  const frame = new DiagramFrame(
    async () => (await import('mermaid.txt!=!mermaid/dist/mermaid.min.js')).default
  );
  const drawing: Drawing = {
    highlight: languages
      ? (code, language, host) => languages.highlight(code, languages.findBest(language), host)
      : undefined,
    typeset: latexTypesetter ? async host => void (await latexTypesetter.typeset(host)) : undefined,
    diagrams: new FramedDiagrams(frame.draw, {
      diagram: trans.__('Diagram'),
      failed: reason => trans.__('This diagram cannot be drawn: %1', reason)
    })
  };
  return { drawing, outputs: outputRendermime(drawing) };
}
