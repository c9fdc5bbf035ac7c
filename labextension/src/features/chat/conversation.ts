/**
 * What a conversation looks like, as plain immutable data: what people said, and runs made of text and tool calls.
 * Transcripts and live events are both turned into this, so that the view has one thing to draw.
 */
import type {
  ApprovalInfo,
  AttachmentInfo,
  FailureInfo,
  LabelInfo,
  QuestionInfo,
  UsageInfo
} from '../../protocol/wire';
import type { ContextOf } from '../composer/context_items';
import type { Mode } from '../composer/mode';

export type ToolStatus =
  'running' | 'waiting' | 'ok' | 'failed' | 'denied' | 'skipped' | 'aborted' | 'interrupted';

export interface Decision {
  decision: 'approved' | 'denied' | 'expired' | 'aborted';
  reason?: string;
  scope?: string;
}

export interface ToolCall {
  callId: string;
  tool: string;
  input: Record<string, unknown>;
  status: ToolStatus;
  output: string;
  attachments: readonly AttachmentInfo[];
  /** What it does or did; absent for a tool that is known by its name alone. */
  label?: LabelInfo;
  /** What its result is about, for programs. */
  data?: Record<string, unknown>;
  /** Why it did not end well. */
  failure?: FailureInfo;
  /** The newest line about work under way. */
  progress?: string;
  /** When it began to run, by this tab's clock, in milliseconds; waiting for a person does not count. */
  startedAtMs?: number;
  durationMs?: number;
  approval?: ApprovalInfo;
  /** Its cell was seen while it was written. */
  isDrafted?: boolean;
  decision?: Decision;
  /** What the call asks of the person, and how that ended. */
  question?: QuestionInfo;
  questionOutcome?: string;
}

/** Something to know about a run that is no answer. */
export interface Note {
  kind: string;
  message: string;
  data?: Record<string, unknown>;
}

export type Part =
  /** `entryId` is its line in the transcript; words that have just come have none yet. */
  | { kind: 'text'; key: string; text: string; entryId?: string }
  /** What the model thought, and for how long: `seconds` is absent while it thinks and where nobody saw the end. */
  | { kind: 'thought'; key: string; text: string; seconds?: number }
  | { kind: 'tool'; key: string; call: ToolCall }
  | { kind: 'note'; key: string; note: Note }
  | { kind: 'said'; key: string; message: UserMessage };

export type RunStatus = 'running' | 'final' | 'error' | 'aborted' | 'interrupted';

export interface Problem {
  code: string;
  message: string;
  hint?: string;
}

export interface Run {
  kind: 'run';
  key: string;
  runId: string;
  status: RunStatus;
  parts: readonly Part[];
  /** A line before the first word, such as a model that is being loaded. */
  notice?: string;
  /** The cell that is being written, as far as it has come: behind all parts, until a call or words take its place. */
  draft?: string;
  problem?: Problem;
  usage?: UsageInfo;
  model?: string;
}

/** `waiting`: no connection, it goes when there is one. `sending`: on its way. `failed`: the server said no. */
export type Delivery = 'sent' | 'waiting' | 'sending' | 'failed';

/** What to do where a run goes on already: join it, wait for its end, or stop it. */
export type WhenBusy = 'steer' | 'followup' | 'interrupt';

export interface UserMessage {
  kind: 'user';
  key: string;
  /** Its line in the transcript, where that is known. */
  id?: string;
  text: string;
  context: readonly ContextOf[];
  delivery: Delivery;
  runId?: string;
  /** The session whose agent wrote it, where that was not the person. */
  fromSession?: string;
  /** The notebook whose cell asked. */
  fromNotebook?: string;
  /** That notebook's path, where its kernel is of this server. */
  fromPath?: string;
  /** It came during `runId` and joins that; the run is not its own. */
  steers?: boolean;
  whenBusy?: WhenBusy;
  /** How much Onyx may do for it; absent where it is the standard. */
  mode?: Mode;
  /** How its model is to act; absent where that is left to the model's provider. */
  toolMode?: 'cell' | 'tools';
  problem?: Problem;
}

export type Item = UserMessage | Run;
export type Conversation = readonly Item[];

export const isRun = (item: Item): item is Run => item.kind === 'run';
export const isActive = (item: Item): boolean => isRun(item) && item.status === 'running';

/** Whether this is the message that the run answers; one that joined it is not. */
export function asksFor(item: Item, runId: string): item is UserMessage {
  return item.kind === 'user' && item.runId === runId && !item.steers;
}

export function newRun(runId: string): Run {
  return { kind: 'run', key: runId, runId, status: 'running', parts: [] };
}

export function newToolCall(callId: string, tool: string, input: Record<string, unknown>): ToolCall {
  return { callId, tool, input, status: 'running', output: '', attachments: [] };
}

export function findRun(items: Conversation, runId: string): Run | undefined {
  return items.find((item): item is Run => isRun(item) && item.runId === runId);
}

export function replaceItem(items: Conversation, key: string, change: (item: Item) => Item): Conversation {
  return items.map(item => (item.key === key ? change(item) : item));
}

/** Put a run where it belongs: after the message that asked for it, else at the end. */
export function placeRun(items: Conversation, run: Run): Conversation {
  const asked = items.findIndex(item => asksFor(item, run.runId));
  const at = asked < 0 ? items.length : asked + 1;
  return [...items.slice(0, at), run, ...items.slice(at)];
}

/** The same run with one tool call changed; unchanged when it has no such call. */
export function changeCall(run: Run, callId: string, change: (call: ToolCall) => ToolCall): Run {
  const parts = run.parts.map(part =>
    part.kind === 'tool' && part.call.callId === callId ? { ...part, call: change(part.call) } : part
  );
  return { ...run, parts };
}

/** The same run with a part behind those that it has. */
export function addPart(run: Run, part: Part): Run {
  return { ...run, notice: undefined, parts: [...run.parts, part] };
}

/** The same run with a note: behind all that it has, or in the place of an earlier one with the same id. */
export function addNote(run: Run, key: string, note: Note): Run {
  const id = note.data?.id;
  const isSame = (part: Part) =>
    part.kind === 'note' && part.note.kind === note.kind && part.note.data?.id === id;
  if (typeof id !== 'string' || !run.parts.some(isSame)) {
    return addPart(run, { kind: 'note', key, note });
  }
  return { ...run, parts: run.parts.map(part => (isSame(part) ? { ...part, note } : part)) as Part[] };
}

/** Every message of the person, those that joined a run included, in the order in which they are shown. */
export function messagesOf(items: Conversation): UserMessage[] {
  return items.flatMap(item =>
    isRun(item) ? item.parts.flatMap(part => (part.kind === 'said' ? [part.message] : [])) : [item]
  );
}

/** The messages with these ids take their place in the run: behind all that it has. */
export function joinRun(items: Conversation, runId: string, ids: readonly string[]): Conversation {
  const joins = (item: Item) => !isRun(item) && item.id !== undefined && ids.includes(item.id);
  const said = items.filter((item): item is UserMessage => joins(item));
  const run = findRun(items, runId);
  if (!run || said.length === 0) {
    return items;
  }
  const joined = said.reduce(
    (now, message) => addPart(now, { kind: 'said', key: message.key, message }),
    run
  );
  return items.filter(item => !joins(item)).map(item => (item === run ? joined : item));
}

export function callsOf(run: Run): ToolCall[] {
  return run.parts.flatMap(part => (part.kind === 'tool' ? [part.call] : []));
}

/** The approvals that wait for a person, oldest first. */
export function waitingCalls(items: Conversation): ToolCall[] {
  return items
    .filter(isRun)
    .flatMap(callsOf)
    .filter(call => call.status === 'waiting');
}

/** Tokens and cost of everything shown; `costUsd` is undefined where no price is known at all. */
export function totalUsage(items: Conversation): {
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
} {
  let inputTokens = 0;
  let outputTokens = 0;
  let costUsd: number | undefined;
  for (const { usage } of items.filter(isRun)) {
    inputTokens += usage?.inputTokens ?? 0;
    outputTokens += usage?.outputTokens ?? 0;
    if (typeof usage?.costUsd === 'number') {
      costUsd = (costUsd ?? 0) + usage.costUsd;
    }
  }
  return { inputTokens, outputTokens, costUsd };
}
