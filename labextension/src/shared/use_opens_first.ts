/** Enter in a search opens the best that was found for what was typed, also where it comes before the answer. */
import { useEffect, useState } from 'react';
import type { KeyboardEvent } from 'react';

interface Search<T> {
  query: string;
  /** What the results are an answer to; null where there are none. */
  searched: string | null;
  /** What was searched for in vain, where the newest search has failed. */
  failed: string | null;
  results: readonly T[];
  open: (result: T) => void;
}

interface OpensFirst {
  /** For the field; a key that ends the composition of a character is none of ours. */
  onKey: (event: KeyboardEvent) => void;
  /** More was typed, or a person has turned to another place. */
  callOff: () => void;
}

export function useOpensFirst<T>({ query, searched, failed, results, open }: Search<T>): OpensFirst {
  const [isWanted, setIsWanted] = useState(false);
  useEffect(() => {
    if (!isWanted) {
      return;
    }
    if (searched === query) {
      setIsWanted(false);
      if (results[0] !== undefined) {
        open(results[0]);
      }
    } else if (failed === query) {
      setIsWanted(false); // the answer to another try must open nothing any more
    }
  }, [isWanted, searched, failed, query, results, open]);
  return {
    onKey: event => event.key === 'Enter' && !event.nativeEvent.isComposing && setIsWanted(true),
    callOff: () => setIsWanted(false)
  };
}
