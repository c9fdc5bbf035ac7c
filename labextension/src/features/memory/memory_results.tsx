/** What a search in memory finds, as rows: passages, and conversations. */
import { FACTS_FILE, foundPassages } from '../../shared/citations';
import type { FoundPassages } from '../../shared/citations';
import type { ToolCall } from '../chat/conversation';
import type { SessionInfo } from '../../protocol/wire';
import { formatRelative } from '../../shared/relative_time';
import { matchParts } from '../../shared/match_parts';
import { linesOf, markedParts, placeName, snippetFrom } from './memory_text';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface Scores {
  score: number;
  vectorScore?: number | null;
  textScore?: number | null;
  recency?: number | null;
}

interface MemoryResultProps {
  passage: Scores & { path: string; startLine: number; endLine: number; heading: string; snippet: string };
  query: string;
  isSelected: boolean;
  open: () => void;
}

/** One passage: its place, how well it matches, and its text with the hits marked. */
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

/** How well it matches, as a short bar; its parts are named on hover and to screen readers. */
function ScoreBar({ scores }: { scores: Scores }): JSX.Element {
  const { trans } = useUi();
  const words = formatScores(scores, trans);
  return (
    <span className="onyx-Score" data-onyx="score" role="img" aria-label={words} title={words}>
      <span style={{ width: `${Math.round(Math.min(1, Math.max(0, scores.score)) * 100)}%` }} />
    </span>
  );
}

/** One line per part; a part that did not count is left out. */
function formatScores(scores: Scores, trans: Ui['trans']): string {
  const parts: Array<[string, number | null | undefined]> = [
    [trans.__('Score'), scores.score],
    [trans.__('meaning'), scores.vectorScore],
    [trans.__('words'), scores.textScore],
    [trans.__('recency'), scores.recency]
  ];
  return parts
    .filter((part): part is [string, number] => typeof part[1] === 'number')
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join('\n');
}

/** The conversations that mention what is looked for but that were not noted. */
export function MemoryConversations(props: {
  conversations: readonly SessionInfo[];
  query: string;
  open: (session: SessionInfo) => void;
}): JSX.Element | null {
  const { conversations, query, open } = props;
  const { trans } = useUi();
  if (conversations.length === 0) {
    return null;
  }
  return (
    <section aria-label={trans.__('Conversations')}>
      <h3>{trans.__('Conversations')}</h3>
      {conversations.map(session => (
        <button
          key={session.sessionKey}
          title={session.title}
          type="button"
          className="onyx-Row onyx-Result"
          data-onyx="memory-conversation"
          onClick={() => open(session)}
        >
          <span className="onyx-Row-name">{session.title || trans.__('Untitled')}</span>
          <span className="onyx-Row-state">{formatRelative(session.updatedAt)}</span>
          <span className="onyx-Result-text">
            {session.match && `${session.match.role === 'user' ? trans.__('You:') : trans.__('Onyx:')} `}
            {matchParts(session.match?.snippet ?? session.lastMessagePreview, query).map((part, index) =>
              part.isHit ? <mark key={index}>{part.text}</mark> : part.text
            )}
          </span>
        </button>
      ))}
    </section>
  );
}

/** What a memory tool found, in the card of its call: null if the output is not a list of results. */
export function memoryFound(call: ToolCall): JSX.Element | null {
  const found = foundPassages(call.output);
  return found && <MemoryFound found={found} query={String(call.input.query ?? '')} />;
}

function MemoryFound({ found, query }: { found: FoundPassages; query: string }): JSX.Element {
  const { trans, openMemory } = useUi();
  return (
    <div className="onyx-Found" data-onyx="memory-found">
      {found.results.length === 0 && <div className="onyx-Note">{trans.__('Nothing found.')}</div>}
      {found.results.map((passage, index) => (
        <MemoryResult
          key={`${placeName(passage)}:${index}`}
          passage={passage}
          query={query}
          isSelected={false}
          open={() => openMemory?.({ path: passage.path, lines: [passage.startLine, passage.endLine] })}
        />
      ))}
      {found.note && <div className="onyx-Note">{found.note}</div>}
    </div>
  );
}
