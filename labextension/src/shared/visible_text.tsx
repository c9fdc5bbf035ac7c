/**
 * Text exactly as it is: invisible characters and look-alike letters appear as marks that no text can fake. A
 * mark is copied as it is displayed, so that nothing deceives where it is pasted.
 */
import { Fragment, memo } from 'react';

import { visiblePieces } from './visible_characters';
import type { CharacterMark } from './visible_characters';
import { useUi } from './ui_context';

const RIGHT_TO_LEFT =
  '\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufeff\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}';
/** Words of such a script, which keep their own order and don't reorder the text around them. */
const WORDS = new RegExp(`([${RIGHT_TO_LEFT}](?:[${RIGHT_TO_LEFT} ]*[${RIGHT_TO_LEFT}])?)`, 'u');

export const VisibleText = memo(function VisibleText({ text }: { text: string }): JSX.Element {
  return (
    <>
      {visiblePieces(text).map((piece, index) =>
        typeof piece === 'string' ? <Plain key={index} text={piece} /> : <Mark key={index} mark={piece} />
      )}
    </>
  );
});

function Plain({ text }: { text: string }): JSX.Element {
  const parts = text.split(WORDS);
  return (
    <>
      {parts.map((part, index) =>
        index % 2 ? <bdi key={index}>{part}</bdi> : <Fragment key={index}>{part}</Fragment>
      )}
    </>
  );
}

function Mark({ mark }: { mark: CharacterMark }): JSX.Element {
  const { trans } = useUi();
  const { kind, character, count, label } = mark;
  const times = count > 1 ? `${label}×${count}` : label;
  const name = kind === 'look_alike' ? trans.__('looks like “%1”', mark.name) : mark.name;
  const title = `${name} (${times})`;
  const isShown = kind === 'look_alike';
  return (
    <span
      className={isShown ? 'onyx-Mark onyx-mod-lookAlike' : 'onyx-Mark'}
      data-onyx="character-mark"
      data-character={label}
      data-count={count}
      role="img"
      title={title}
      aria-label={title}
    >
      {isShown ? character.repeat(count) : times}
    </span>
  );
}
