import { VisibleText } from './visible_text';

/** A sentence in which what stands between backticks is code. It shows every other character as it is, or as a mark. */
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

/** Every other piece is code. A backtick that stands inside of a word is part of a command: then nothing is cut. */
export function codeIn(text: string): readonly string[] {
  const pieces = text.split(/(?<![^\s“(])`([^`]+)`(?=[\s,.”)]|$)/);
  return pieces.some(piece => piece.includes('`')) ? [text] : pieces;
}
