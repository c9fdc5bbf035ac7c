/** A memory file's text, rendered piece by piece with line numbers; the requested lines are marked. */
import { useMemo, useState } from 'react';

import { textPieces } from './memory_text';
import type { TextPiece } from './memory_text';
import { MarkdownBlockView } from '../../shared/markdown_block_view';
import { useUi } from '../../shared/ui_context';
import { useKeptVisible } from '../../shared/use_kept_in_sight';

interface MemoryTextViewProps {
  text: string;
  lines: readonly [number, number] | undefined;
}

/** How many pieces are drawn at first, and with each further request. */
const STEP = 300;

export function MemoryTextView({ text, lines }: MemoryTextViewProps): JSX.Element {
  const { trans } = useUi();
  const pieces = useMemo(() => textPieces(text), [text]);
  const marked = lines ? pieces.findIndex(piece => piece.endLine >= lines[0]) : -1;
  const [more, setMore] = useState(0);
  const first = Math.max(0, marked - STEP / 2 - more * STEP);
  const last = Math.max(0, marked) + STEP * (more + 1);
  const root = useKeptVisible<HTMLDivElement>(lines);
  const grow = () => setMore(more + 1);
  return (
    <div className="onyx-MemoryText" data-onyx="memory-text" ref={root}>
      {first > 0 && <More label={trans.__('Show earlier lines')} grow={grow} />}
      {pieces.slice(first, last).map(piece => (
        <Piece key={piece.startLine} piece={piece} isMarked={lines !== undefined && overlaps(piece, lines)} />
      ))}
      {last < pieces.length && <More label={trans.__('Show later lines')} grow={grow} />}
    </div>
  );
}

function Piece({ piece, isMarked }: { piece: TextPiece; isMarked: boolean }): JSX.Element {
  return (
    <div
      className={piece.isItem ? 'onyx-MemoryText-piece onyx-mod-item' : 'onyx-MemoryText-piece'}
      data-line={piece.startLine}
      data-marked={isMarked || undefined}
    >
      <MarkdownBlockView source={piece.text} finished />
    </div>
  );
}

function More({ label, grow }: { label: string; grow: () => void }): JSX.Element {
  return (
    <button type="button" className="onyx-Link" onClick={grow}>
      {label}
    </button>
  );
}

function overlaps(piece: TextPiece, [start, end]: readonly [number, number]): boolean {
  return piece.startLine <= end && piece.endLine >= start;
}
