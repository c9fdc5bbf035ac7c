/** What a memory tool found, as a list of places that lead into the memory panel, in the card of its call. */
import { useMemo } from 'react';

import { foundPassages } from '../models/citations';
import { placeName } from '../models/memory_text';
import { MemoryResult } from './memory_result';
import { useUi } from './ui_context';

interface MemoryFoundProps {
  output: string;
  query: string;
}

/** null for an output that is something else than results. */
export function useFound(tool: string, output: string): ReturnType<typeof foundPassages> {
  const isSearch = tool === 'memory_search';
  return useMemo(() => (isSearch ? foundPassages(output) : null), [isSearch, output]);
}

export function MemoryFound({ output, query }: MemoryFoundProps): JSX.Element | null {
  const { trans, openMemory } = useUi();
  const found = useFound('memory_search', output);
  if (!found) {
    return null;
  }
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
