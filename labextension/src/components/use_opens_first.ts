/** Enter in a search opens the best that was found for what was typed, also where it comes before the answer. */
import { useEffect, useState } from 'react';

interface Search<T> {
  query: string;
  /** What the results are an answer to; null where there are none. */
  searched: string | null;
  results: readonly T[];
  open: (result: T) => void;
}

/** What sets it in motion, and calls it off: more was typed, the search failed, or a person has turned to another place. */
export function useOpensFirst<T>({ query, searched, results, open }: Search<T>): (isWanted: boolean) => void {
  const [isWanted, setIsWanted] = useState(false);
  useEffect(() => {
    if (isWanted && searched === query) {
      setIsWanted(false);
      if (results[0] !== undefined) {
        open(results[0]);
      }
    }
  }, [isWanted, searched, query, results, open]);
  return setIsWanted;
}
