/** A memory file's text, rendered piece by piece with its line numbers; the lines that were asked for are marked. */
import { useEffect, useMemo, useRef, useState } from 'react';

import { textPieces } from '../models/memory_text';
import type { TextPiece } from '../models/memory_text';
import { MarkdownBlockView } from './markdown_block_view';
import { useUi } from './ui_context';

interface MemoryTextViewProps {
  text: string;
  lines: readonly [number, number] | undefined;
}

/** As many pieces as are drawn at first, and with each further asking. */
const STEP = 300;
/** While pieces are still being drawn above them, the marked lines are kept in sight. */
const SETTLE_MS = 1500;

export function MemoryTextView({ text, lines }: MemoryTextViewProps): JSX.Element {
  const { trans } = useUi();
  const pieces = useMemo(() => textPieces(text), [text]);
  const marked = lines ? pieces.findIndex(piece => piece.endLine >= lines[0]) : -1;
  const [more, setMore] = useState(0);
  const first = Math.max(0, marked - STEP / 2 - more * STEP);
  const last = Math.max(0, marked) + STEP * (more + 1);
  const root = useKeptInSight(lines);
  const grow = () => setMore(more + 1);
  return (
    <div className="onyx-MemoryText" data-onyx="memory-text" ref={root}>
      {first > 0 && <More label={trans.__('Show earlier lines')} grow={grow} />}
      {pieces.slice(first, last).map(piece => (
        <Piece key={piece.startLine} piece={piece} isMarked={lines !== undefined && meets(piece, lines)} />
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

function meets(piece: TextPiece, [start, end]: readonly [number, number]): boolean {
  return piece.startLine <= end && piece.endLine >= start;
}

/** Until a person scrolls by themselves. */
function useKeptInSight(lines: readonly [number, number] | undefined): React.RefObject<HTMLDivElement> {
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = root.current;
    if (!node || !lines) {
      return;
    }
    const show = () => node.querySelector('[data-marked]')?.scrollIntoView({ block: 'center' });
    const observer = new ResizeObserver(show);
    const stop = () => observer.disconnect();
    const timer = setTimeout(stop, SETTLE_MS);
    observer.observe(node);
    show();
    const signs = ['wheel', 'keydown', 'pointerdown'] as const;
    signs.forEach(sign => window.addEventListener(sign, stop, { passive: true }));
    return () => {
      clearTimeout(timer);
      stop();
      signs.forEach(sign => window.removeEventListener(sign, stop));
    };
  }, [lines]);
  return root;
}
