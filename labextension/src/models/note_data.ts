/** What stands in a note beside its words, read with care: it is no part of the wire's types. */

export interface Proposal {
  target: string;
  content: string;
  reason: string;
}

/** Of a conversation that was summed up: what might be worth remembering. Anything of another shape is left out. */
export function readCompaction(data: Record<string, unknown> | undefined): {
  proposals: readonly Proposal[];
} {
  const found = Array.isArray(data?.proposals) ? (data.proposals as unknown[]) : [];
  return { proposals: found.filter(isProposal) };
}

function isProposal(value: unknown): value is Proposal {
  const one = value as Partial<Record<keyof Proposal, unknown>> | null;
  return (
    typeof one === 'object' &&
    [one?.target, one?.content, one?.reason].every(text => typeof text === 'string')
  );
}
