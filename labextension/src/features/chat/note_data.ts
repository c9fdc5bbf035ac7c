/** Parses the data of a note, which the wire types don't describe. */

export interface Proposal {
  target: string;
  content: string;
  reason: string;
}

/** One change of the memory: `content` was added, `item` was there before. */
export interface MemoryChange {
  op: 'add' | 'change' | 'drop';
  section: string;
  item: string;
  content: string;
  reason: string;
}

/**
 * `version` is the version of the file with the changes, `before` the one until then; both are missing if
 * none is kept.
 */
export interface MemoryNoteData {
  id: string;
  path: string;
  isUndone: boolean;
  done: readonly MemoryChange[];
  refused: ReadonlyArray<{ change: MemoryChange; why: string }>;
  history: string;
  version?: number;
  before?: number;
}

type Data = Record<string, unknown> | undefined;

/**
 * For a summarized conversation: what might be worth remembering, and which of it (counted from 0) is
 * remembered. Anything of another shape is left out; without an id nothing can be accepted.
 */
export function readCompaction(data: Data): {
  id?: string;
  proposals: ReadonlyArray<Proposal & { number: number }>;
  accepted: ReadonlySet<unknown>;
} {
  const proposals = list(data?.proposals).flatMap((one, number) =>
    isProposal(one) ? [{ target: one.target, content: one.content, reason: one.reason, number }] : []
  );
  return { id: text(data?.id) || undefined, proposals, accepted: new Set(list(data?.accepted)) };
}

/** For automatically remembered facts; null if the data is unreadable. */
export function readMemory(data: Data): MemoryNoteData | null {
  const id = text(data?.id);
  const path = text(data?.path);
  if (!id || !path) {
    return null;
  }
  return {
    id,
    path,
    isUndone: data?.state === 'undone',
    done: list(data?.done).flatMap(readChange),
    refused: list(data?.refused).flatMap(one => {
      const { operation, why } = (one ?? {}) as { operation?: unknown; why?: unknown };
      return readChange(operation).map(change => ({ change, why: text(why) }));
    }),
    history: text(data?.history),
    version: number(data?.version),
    before: number(data?.before)
  };
}

function readChange(value: unknown): MemoryChange[] {
  const one = (value ?? {}) as Record<string, unknown>;
  if (one.op !== 'add' && one.op !== 'change' && one.op !== 'drop') {
    return [];
  }
  const { section, item, content, reason } = one;
  return [
    { op: one.op, section: text(section), item: text(item), content: text(content), reason: text(reason) }
  ];
}

function isProposal(value: unknown): value is Proposal {
  const one = value as Partial<Record<keyof Proposal, unknown>> | null;
  return (
    typeof one === 'object' &&
    [one?.target, one?.content, one?.reason].every(text => typeof text === 'string')
  );
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
