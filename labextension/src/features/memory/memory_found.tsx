/** What a memory tool found: a list of places that open the memory panel, in the card of its call. */
import { foundPassages } from '../../shared/citations';
import type { FoundPassages } from '../../shared/citations';
import type { ToolCall } from '../chat/conversation';
import { placeName } from './memory_text';
import { MemoryResult } from './memory_result';
import { useUi } from '../../shared/ui_context';

/** null if the output is not a list of results. */
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
