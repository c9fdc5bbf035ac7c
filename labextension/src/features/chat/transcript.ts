/** Turns a stored transcript into a conversation: a reload shows the same as before. */
import type {
  ApprovalInfo,
  AttachmentInfo,
  Entry,
  FailureInfo,
  LabelInfo,
  QuestionInfo,
  UsageInfo
} from '../../protocol/wire';
import type { ContextOf } from '../composer/context_items';
import {
  addNote,
  changeCall,
  findRun,
  isRun,
  joinRun,
  newRun,
  newToolCall,
  placeRun,
  replaceItem
} from './conversation';
import type { Conversation, Decision, Part, Run, RunStatus, ToolStatus } from './conversation';
import { asMode } from '../composer/mode';
import { endRun } from './run_events';

interface Meta {
  kind?: string;
  runId?: string;
  context?: ContextOf[] | null;
  from?: { sessionKey: string };
  kernel?: { name?: string; path?: string };
  job?: { name?: string };
  model?: string;
  thought?: { text?: unknown; seconds?: unknown } | null;
  status?: ToolStatus;
  ok?: boolean;
  tool?: string;
  durationMs?: number;
  /** What the calls of a reply that have no result yet do, by their ids. */
  activities?: Record<string, LabelInfo>;
  label?: LabelInfo;
  failure?: FailureInfo;
  attachments?: AttachmentInfo[] | null;
  outcome?: string;
  code?: string;
  message?: string;
  hint?: string;
  approvalId?: string;
  decision?: Decision['decision'];
  scope?: string;
  reason?: string;
  callId?: string;
  note?: string;
  steer?: boolean;
  mode?: string;
  messageId?: string;
  messageIds?: string[];
  data?: Record<string, unknown>;
}

/**
 * The conversation of these entries. Runs in `replayed` arrive again as events, so only their user messages
 * are used. A run without an end is shown as running: the caller knows whether it really is.
 */
export function fromEntries(
  entries: readonly Entry[],
  replayed: ReadonlySet<string> = new Set()
): Conversation {
  let items: Conversation = [];
  for (const entry of entries) {
    const meta = (entry.meta ?? {}) as Meta;
    if (entry.role === 'user') {
      items = [...items, userMessage(entry, meta)];
    } else if (meta.kind === 'requeued') {
      items = requeue(items, meta);
    } else if (meta.runId && !replayed.has(meta.runId)) {
      items =
        meta.kind === 'steer_joined'
          ? joinRun(items, meta.runId, meta.messageIds ?? [])
          : inRun(items, meta.runId, run => addToRun(run, entry, meta));
    } else if (meta.kind === 'approval_resolved') {
      items = items.map(item => (isRun(item) ? resolve(item, meta) : item));
    }
  }
  return items;
}

/** The conversation with every run that is no longer active marked as interrupted. */
export function endInterruptedRuns(items: Conversation, alive: (runId: string) => boolean): Conversation {
  return items.map(item =>
    isRun(item) && item.status === 'running' && !alive(item.runId) ? endRun(item, 'interrupted') : item
  );
}

function userMessage(entry: Entry, meta: Meta): Conversation[number] {
  return {
    kind: 'user',
    key: entry.id,
    text: entry.content,
    context: meta.context ?? [],
    delivery: 'sent',
    id: entry.id,
    runId: meta.runId,
    steers: meta.steer === true ? true : undefined,
    fromSession: meta.from?.sessionKey,
    fromNotebook: meta.kernel && (meta.kernel.path ?? meta.kernel.name ?? ''),
    fromPath: meta.kernel?.path,
    fromJob: meta.job && (meta.job.name ?? ''),
    mode: asMode(meta.mode)
  };
}

/** A message that could not join its run before the server stopped gets a run of its own. */
function requeue(items: Conversation, meta: Meta): Conversation {
  return items.map(item =>
    !isRun(item) && item.id === meta.messageId ? { ...item, runId: meta.runId, steers: undefined } : item
  );
}

function inRun(items: Conversation, runId: string, change: (run: Run) => Run): Conversation {
  const placed = findRun(items, runId) ? items : placeRun(items, newRun(runId));
  return replaceItem(placed, findRun(placed, runId)!.key, item => (isRun(item) ? change(item) : item));
}

function addToRun(before: Run, entry: Entry, meta: Meta): Run {
  const run = { ...before, usage: addUsage(before.usage, entry.usage) };
  if (entry.role === 'assistant') {
    return addAnswer(run, entry, meta);
  }
  if (entry.role === 'tool') {
    return addResult(run, entry, meta);
  }
  switch (meta.kind) {
    case 'approval_request':
      return askFromEntry(run, entry.meta as unknown as ApprovalInfo);
    case 'approval_resolved':
      return resolve(run, meta);
    case 'question':
      return questionFromEntry(run, entry.meta as unknown as QuestionInfo);
    case 'question_resolved':
      return questionResolved(run, meta);
    case 'note':
      return noteFromEntry(run, entry, meta);
    case 'run_end':
      return endFromEntry(run, meta);
    default:
      return run;
  }
}

function addAnswer(run: Run, entry: Entry, meta: Meta): Run {
  const parts: Part[] = [...run.parts, ...thoughtOf(meta, run.parts.length)];
  if (entry.content) {
    parts.push({ kind: 'text', key: `text-${parts.length}`, text: entry.content, entryId: entry.id });
  }
  for (const call of entry.tool_calls ?? []) {
    parts.push({
      kind: 'tool',
      key: `call-${call.id}`,
      call: { ...newToolCall(call.id, call.name, call.arguments), label: meta.activities?.[call.id] }
    });
  }
  return { ...run, parts, model: meta.model ?? run.model };
}

/** The value may have any shape: a user or another version may have written it. */
function thoughtOf({ thought }: Meta, at: number): Part[] {
  const { text, seconds } = thought ?? {};
  if (typeof text !== 'string' || text.trim() === '') {
    return [];
  }
  const known = typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : undefined;
  return [{ kind: 'thought', key: `thought-${at}`, text, seconds: known }];
}

function addResult(run: Run, entry: Entry, meta: Meta): Run {
  return changeCall(run, entry.tool_call_id ?? '', call => ({
    ...call,
    status: meta.status ?? (meta.ok === false ? 'failed' : 'ok'),
    output: entry.content,
    durationMs: meta.durationMs,
    attachments: meta.attachments ?? [],
    label: meta.label ?? call.label,
    data: meta.data,
    failure: meta.failure
  }));
}

function askFromEntry(run: Run, approval: ApprovalInfo): Run {
  return changeCall(run, approval.callId, call => ({
    ...call,
    approval,
    label: approval.activity ?? call.label,
    status: 'waiting'
  }));
}

function resolve(run: Run, meta: Meta): Run {
  const waiting = run.parts.find(
    part => part.kind === 'tool' && part.call.approval && part.call.approval.approvalId === meta.approvalId
  );
  if (waiting?.kind !== 'tool' || !meta.decision) {
    return run;
  }
  const decision: Decision = { decision: meta.decision, reason: meta.reason, scope: meta.scope };
  const status: ToolStatus =
    meta.decision === 'approved' ? 'running' : meta.decision === 'aborted' ? 'aborted' : 'denied';
  return changeCall(run, waiting.call.callId, call => ({ ...call, decision, status }));
}

function questionFromEntry(run: Run, question: QuestionInfo): Run {
  return changeCall(run, question.callId, call => ({ ...call, question, status: 'waiting' }));
}

function questionResolved(run: Run, meta: Meta): Run {
  const status: ToolStatus = meta.outcome === 'aborted' ? 'aborted' : 'running';
  return changeCall(run, meta.callId ?? '', call => ({ ...call, questionOutcome: meta.outcome, status }));
}

function noteFromEntry(run: Run, entry: Entry, meta: Meta): Run {
  return addNote(run, entry.id, { kind: meta.note ?? '', message: entry.content, data: meta.data });
}

function endFromEntry(run: Run, meta: Meta): Run {
  const ended = endRun(run, (meta.outcome as RunStatus | undefined) ?? 'interrupted');
  if (meta.outcome !== 'error') {
    return ended;
  }
  return { ...ended, problem: { code: meta.code ?? '', message: meta.message ?? '', hint: meta.hint } };
}

function addUsage(left: UsageInfo | undefined, right: UsageInfo | null | undefined): UsageInfo | undefined {
  if (!left || !right) {
    return left ?? right ?? undefined;
  }
  const isMixed = (left.costUsd == null) !== (right.costUsd == null) && [left, right].some(isUnpriced);
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: (left.cachedTokens ?? 0) + (right.cachedTokens ?? 0),
    costUsd:
      left.costUsd == null && right.costUsd == null ? null : (left.costUsd ?? 0) + (right.costUsd ?? 0),
    reasoningTokens: (left.reasoningTokens ?? 0) + (right.reasoningTokens ?? 0) || undefined,
    plan: left.plan || right.plan,
    costIsPartial: isMixed || left.costIsPartial || right.costIsPartial,
    estimated: left.estimated || right.estimated
  };
}

function isUnpriced({ costUsd, plan, inputTokens, outputTokens }: UsageInfo): boolean {
  return costUsd == null && !plan && inputTokens + outputTokens > 0;
}
