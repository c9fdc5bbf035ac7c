/** Where a citation or a search result leads. */
export interface MemoryPlace {
  path: string;
  agentId: string | null;
  /** Counted from 1, both included; left out for the file as a whole. */
  lines?: readonly [number, number];
  /** The id of a fact, where that was named. */
  fact?: string;
}
