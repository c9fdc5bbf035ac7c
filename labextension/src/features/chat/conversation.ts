/**
 * A conversation as plain immutable data: messages, and runs made of text and tool calls. Transcripts and
 * live events are both turned into this, so that the view draws only one thing.
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
import type { Manner } from '../composer/model_choice';

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
  /** What it does or did; absent for a tool known only by name. */
  label?: LabelInfo;
  /** What its result is about, in machine-readable form. */
  data?: Record<string, unknown>;
  /** Why it did not succeed. */
  failure?: FailureInfo;
  /** The latest progress line. */
  progress?: string;
  /** When it began to run, by this tab's clock, in milliseconds; waiting for the user doesn't count. */
  startedAtMs?: number;
  durationMs?: number;
  approval?: ApprovalInfo;
  /** Its cell was shown while it was being written. */
  isDrafted?: boolean;
  decision?: Decision;
  /** What the call asks the user, and how that ended. */
  question?: QuestionInfo;
  questionOutcome?: string;
}

/** Information about a run that is not part of its answer. */
export interface Note {
  kind: string;
  message: string;
  data?: Record<string, unknown>;
}

export type Part =
  /** `entryId` is its line in the transcript; text that has just arrived has none yet. */
  | { kind: 'text'; key: string; text: string; entryId?: string }
  /**
   * What the model thought, and for how long: `seconds` is absent while it thinks and if the end was not
   * observed.
   */
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
  /** A line before the first word, such as "loading a model". */
  notice?: string;
  /** The cell being written, as far as it has arrived: after all parts, until a call or text replaces it. */
  draft?: string;
  problem?: Problem;
  usage?: UsageInfo;
  model?: string;
}

/** `waiting`: sent once there is a connection. `sending`: in progress. `failed`: the server refused it. */
type Delivery = 'sent' | 'waiting' | 'sending' | 'failed';

/** What to do if a run is already active: join it, wait for its end, or stop it. */
export type WhenBusy = 'steer' | 'followup' | 'interrupt';

export interface UserMessage extends Manner {
  kind: 'user';
  key: string;
  /** Its line in the transcript, if known. */
  id?: string;
  text: string;
  context: readonly ContextOf[];
  delivery: Delivery;
  runId?: string;
  /** The session whose agent wrote it, if it was not the user. */
  fromSession?: string;
  /** The notebook whose cell asked. */
  fromNotebook?: string;
  /** The scheduled job whose message it is; empty for a heartbeat. */
  fromJob?: string;
  /** That notebook's path, if its kernel belongs to this server. */
  fromPath?: string;
  /** It arrived during `runId` and joins that run instead of starting one. */
  steers?: boolean;
  whenBusy?: WhenBusy;
  /** How much Onyx may do for it; absent for the default mode. */
  mode?: Mode;
  problem?: Problem;
}

export type Item = UserMessage | Run;
export type Conversation = readonly Item[];

export const isRun = (item: Item): item is Run => item.kind === 'run';
export const isActive = (item: Item): boolean => isRun(item) && item.status === 'running';

/** Whether the run answers this message; a message that joined the run doesn't count. */
export function isRequestOf(item: Item, runId: string): item is UserMessage {
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

/** Puts a run where it belongs: after the message that asked for it, else at the end. */
export function placeRun(items: Conversation, run: Run): Conversation {
  const asked = items.findIndex(item => isRequestOf(item, run.runId));
  const at = asked < 0 ? items.length : asked + 1;
  return [...items.slice(0, at), run, ...items.slice(at)];
}

/** The run with one tool call changed; unchanged if it has no such call. */
export function changeCall(run: Run, callId: string, change: (call: ToolCall) => ToolCall): Run {
  const parts = run.parts.map(part =>
    part.kind === 'tool' && part.call.callId === callId ? { ...part, call: change(part.call) } : part
  );
  return { ...run, parts };
}

/** The run with a part appended. */
function addPart(run: Run, part: Part): Run {
  return { ...run, notice: undefined, parts: [...run.parts, part] };
}

/** The run with a note appended, or replacing an earlier one with the same id. */
export function addNote(run: Run, key: string, note: Note): Run {
  const id = note.data?.id;
  const isSame = (part: Part) =>
    part.kind === 'note' && part.note.kind === note.kind && part.note.data?.id === id;
  if (typeof id !== 'string' || !run.parts.some(isSame)) {
    return addPart(run, { kind: 'note', key, note });
  }
  return { ...run, parts: run.parts.map(part => (isSame(part) ? { ...part, note } : part)) as Part[] };
}

/** All messages of the user, including those that joined a run, in the order shown. */
export function messagesOf(items: Conversation): UserMessage[] {
  return items.flatMap(item =>
    isRun(item) ? item.parts.flatMap(part => (part.kind === 'said' ? [part.message] : [])) : [item]
  );
}

/** Moves the messages with these ids into the run, after everything it has. */
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

/** The approvals that wait for an answer, oldest first. */
export function waitingCalls(items: Conversation): ToolCall[] {
  return items
    .filter(isRun)
    .flatMap(callsOf)
    .filter(call => call.status === 'waiting');
}

/** Tokens and cost of everything shown, some of it maybe estimated; `costUsd` is undefined if no price is known. */
export function totalUsage(items: Conversation): {
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
  estimated: boolean;
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
  const estimated = items.some(item => isRun(item) && item.usage?.estimated === true);
  return { inputTokens, outputTokens, costUsd, estimated };
}
