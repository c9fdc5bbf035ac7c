/** Diffs with syntax highlighting. The drawing code is loaded with the first one. */
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { DrawDiff } from './drawn_diff';

export function lazyDiff(
  mimeType: () => string,
  languages: IEditorLanguageRegistry | null,
  trans: TranslationBundle
): DrawDiff {
  return (host, before, after) => {
    let remove: (() => void) | null = null;
    let isOver = false;
    const draw = async () => {
      const known = languages?.findByMIME(mimeType());
      const language = known ? await languages?.getLanguage(known) : null;
      const { drawDiff } = await import('./source_diff');
      if (!isOver) {
        const phrases = { '$ unchanged lines': trans.__('$ unchanged lines') };
        remove = drawDiff(host, before, after, language?.support ?? [], phrases);
      }
    };
    void draw();
    return () => {
      isOver = true;
      remove?.();
    };
  };
}
