/** One passage that a search found: its place, how well it matches, and its text with the hits marked. */
import { FACTS_FILE } from '../../shared/citations';
import { linesOf, markedParts, placeName, snippetFrom } from './memory_text';
import { ScoreBar } from './score_bar';
import type { Scores } from './score_bar';

interface MemoryResultProps {
  passage: Scores & { path: string; startLine: number; endLine: number; heading: string; snippet: string };
  query: string;
  isSelected: boolean;
  open: () => void;
}

export function MemoryResult({ passage, query, isSelected, open }: MemoryResultProps): JSX.Element {
  return (
    <button
      type="button"
      className="onyx-Row onyx-Result"
      data-onyx="memory-result"
      data-path={passage.path}
      aria-current={isSelected}
      onClick={open}
    >
      <span className="onyx-Row-name onyx-Result-place" title={placeName(passage)}>
        <span>{passage.path.replace(/^memory\//, '')}</span>
        <span>{`:${linesOf(passage)}`}</span>
      </span>
      <ScoreBar scores={passage} />
      {passage.heading && passage.path !== FACTS_FILE && (
        <span className="onyx-Row-about">{passage.heading}</span>
      )}
      <span className="onyx-Result-text">
        {markedParts(snippetFrom(passage.snippet, query), query).map((part, index) =>
          index % 2 ? <mark key={index}>{part}</mark> : part
        )}
      </span>
    </button>
  );
}
