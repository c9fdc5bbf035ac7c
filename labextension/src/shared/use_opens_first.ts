/**
 * Enter in a search opens the best result for what was typed, even if it is pressed before the answer
 * arrives.
 */
import { useEffect, useState } from 'react';
import type { KeyboardEvent } from 'react';

interface Search<T> {
  query: string;
  /** The query that the results answer; null if there are none. */
  searched: string | null;
  /** The query that failed, if the newest search has failed. */
  failed: string | null;
  results: readonly T[];
  open: (result: T) => void;
}

interface OpensFirst {
  /** For the field; a key that ends the composition of a character is ignored. */
  onKey: (event: KeyboardEvent) => void;
  /** More was typed, or the user has moved elsewhere. */
  cancel: () => void;
}

export function useOpenFirst<T>({ query, searched, failed, results, open }: Search<T>): OpensFirst {
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
      setIsWanted(false); // the answer to another attempt must no longer open anything
    }
  }, [isWanted, searched, failed, query, results, open]);
  return {
    onKey: event => event.key === 'Enter' && !event.nativeEvent.isComposing && setIsWanted(true),
    cancel: () => setIsWanted(false)
  };
}
