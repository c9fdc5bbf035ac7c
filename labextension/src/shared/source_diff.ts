/**
 * A diff of two sources as one read-only text, drawn by CodeMirror in JupyterLab's own colours. It is loaded
 * when the first diff is opened.
 *
 * CodeMirror marks fewer invisible characters than there are, and none in lines that are gone, so the marks
 * are in the texts themselves.
 */
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { Decoration, EditorView, MatchDecorator, ViewPlugin, lineNumbers } from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';
import { jupyterTheme } from '@jupyterlab/codemirror';

import { withMarks } from './visible_characters';

const UNCHANGED = { margin: 2, minSize: 6 };

const marks = new MatchDecorator({
  regexp: /⟨U\+[0-9A-F]+(?:×\d+)?⟩/g,
  decoration: Decoration.mark({ class: 'onyx-Mark' })
});
const boxedMarks = ViewPlugin.define(view => new BoxedMarks(view), { decorations: plugin => plugin.boxes });

class BoxedMarks {
  constructor(view: EditorView) {
    this.boxes = marks.createDeco(view);
  }

  update(update: ViewUpdate): void {
    this.boxes = marks.updateDeco(update, this.boxes);
  }

  boxes: DecorationSet;
}

/** `after` null: the text is gone as a whole. Gives back what takes the diff away. */
export function drawDiff(
  host: HTMLElement,
  before: string,
  after: string | null,
  language: Extension,
  phrases: Record<string, string>
): () => void {
  const state = EditorState.create({
    doc: withMarks(after ?? before),
    extensions: [
      jupyterTheme,
      language,
      boxedMarks,
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
      EditorState.phrases.of(phrases),
      after === null
        ? EditorView.editorAttributes.of({ class: 'onyx-mod-removed' })
        : [
            lineNumbers(),
            unifiedMergeView({
              original: withMarks(before),
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
