import { VisibleText } from './visible_text';

/**
 * A sentence in which text between backticks is code. Every other character is shown as it is, or as a mark.
 */
export function Words({ text }: { text: string }): JSX.Element {
  return (
    <span className="onyx-Words">
      {codeIn(text).map((piece, index) =>
        index % 2 ? (
          <code key={index}>
            <VisibleText text={piece} />
          </code>
        ) : (
          <VisibleText key={index} text={piece} />
        )
      )}
    </span>
  );
}

/** Every other piece is code. A backtick inside a word is part of a command: then nothing is split. */
export function codeIn(text: string): readonly string[] {
  const pieces = text.split(/(?<![^\s“(])`([^`]+)`(?=[\s,.”)]|$)/);
  return pieces.some(piece => piece.includes('`')) ? [text] : pieces;
}
