/** Where a citation or a search result leads. */
export interface MemoryPlace {
  path: string;
  agentId: string | null;
  /** Counted from 1, inclusive; absent for the whole file. */
  lines?: readonly [number, number];
  /** The id of a fact, if it was named. */
  fact?: string;
}
