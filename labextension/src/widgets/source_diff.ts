/**
 * A diff of two sources as one read-only text, drawn by CodeMirror in JupyterLab's own colours. It is loaded when the
 * first diff is opened.
 */
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { jupyterTheme } from '@jupyterlab/codemirror';

const UNCHANGED = { margin: 2, minSize: 6 };

/** `after` null: the text is gone as a whole. Gives back what takes the diff away. */
export function drawDiff(
  host: HTMLElement,
  before: string,
  after: string | null,
  language: Extension,
  phrases: Record<string, string>
): () => void {
  const state = EditorState.create({
    doc: after ?? before,
    extensions: [
      jupyterTheme,
      language,
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
      EditorState.phrases.of(phrases),
      after === null
        ? EditorView.editorAttributes.of({ class: 'onyx-mod-removed' })
        : [
            lineNumbers(),
            unifiedMergeView({
              original: before,
              mergeControls: false,
              gutter: true,
              collapseUnchanged: UNCHANGED
            })
          ]
    ]
  });
  const view = new EditorView({ state, parent: host });
  return () => view.destroy();
}
