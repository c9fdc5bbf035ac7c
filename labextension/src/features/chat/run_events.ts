/** Applies the events of a run to a conversation. Pure: no clock, no network, no signal. */
import type { EventFrame } from '../../protocol/frames';
import type {
  ApprovalInfo,
  ApprovalResolvedData,
  ChatFinalData,
  ChatNoteData,
  ChatSteeredData,
  ChatThoughtData,
  QuestionInfo,
  QuestionResolvedData,
  ToolDraftData,
  ToolFinishedData,
  ToolProgressData,
  ToolStartedData
} from '../../protocol/wire';
import {
  addNote,
  callsOf,
  changeCall,
  findRun,
  joinRun,
  messagesOf,
  newRun,
  newToolCall,
  placeRun,
  replaceItem,
  isRun
} from './conversation';
import type { Conversation, Part, Run, RunStatus, ToolCall, ToolStatus, UserMessage } from './conversation';

/** The conversation after one event. `nowMs` is the tab's clock, used to show how long a call takes. */
export function applyEvent(items: Conversation, frame: EventFrame, nowMs: number): Conversation {
  switch (frame.event) {
    case 'chat.started':
      return withRun(items, frame.data.runId, run => run);
    case 'chat.delta':
      return appendText(items, frame.data.runId, frame.data.text);
    case 'chat.thought':
      return withRun(items, frame.data.runId, run => think(run, frame.data));
    case 'tool.draft':
      return withRun(items, frame.data.runId, run => draft(run, frame.data));
    case 'tool.started':
      return withRun(items, frame.data.runId, run => startCall(run, frame.data, nowMs));
    case 'tool.progress':
      return withRun(items, frame.data.runId, run => showProgress(run, frame.data));
    case 'tool.finished':
      return withRun(items, frame.data.runId, run => finishCall(run, frame.data, nowMs));
    case 'exec.approval_request':
      return withRun(items, frame.data.runId, run => askApproval(run, frame.data));
    case 'exec.approval_resolved':
      return resolveApproval(items, frame.data, nowMs);
    case 'chat.question':
      return withRun(items, frame.data.runId, run => askQuestion(run, frame.data));
    case 'chat.question_resolved':
      return withRun(items, frame.data.runId, run => resolveQuestion(run, frame.data, nowMs));
    case 'chat.note':
      return withRun(items, frame.data.runId, run => note(run, frame.data));
    case 'chat.steered':
      return steer(items, frame.data);
    case 'chat.joined':
      return joinRun(items, frame.data.runId, frame.data.messageIds);
    case 'chat.final':
      return withRun(items, frame.data.runId, run => finish(run, frame.data));
    case 'chat.error': {
      const { runId, code, message, hint, usage } = frame.data;
      return withRun(items, runId, run => ({
        ...endRun(run, 'error'),
        usage: usage ?? run.usage,
        problem: { code, message, hint: hint ?? undefined }
      }));
    }
    case 'chat.aborted':
      return withRun(items, frame.data.runId, run => ({
        ...endRun(run, 'aborted'),
        usage: frame.data.usage ?? run.usage
      }));
    default:
      return items;
  }
}

/** Adds streamed text to a run: to its last piece of text, or to a new piece after a tool call. */
export function appendText(items: Conversation, runId: string, text: string): Conversation {
  return withRun(items, runId, run => {
    const last = run.parts[run.parts.length - 1];
    const parts =
      last?.kind === 'text'
        ? [...run.parts.slice(0, -1), { ...last, text: last.text + text }]
        : [...run.parts, { kind: 'text' as const, key: `text-${run.parts.length}`, text }];
    return { ...run, parts, notice: undefined, draft: undefined };
  });
}

/** A continued thought stays one thought, even if a note comes in between. */
function think(run: Run, { text, seconds, wasSaid }: ChatThoughtData): Run {
  const parts = wasSaid ? withoutTrailingText(run.parts, text) : [...run.parts];
  const open = parts.filter(part => part.kind !== 'note').at(-1);
  const words = wasSaid ? text.trim() : text;
  if (open?.kind === 'thought' && open.seconds === undefined) {
    parts[parts.indexOf(open)] = { ...open, text: open.text + words, seconds: seconds ?? undefined };
  } else {
    const key = `thought-${parts.length}`;
    parts.push({ kind: 'thought', key, text: words, seconds: seconds ?? undefined });
  }
  const isNothing = (part: Part) =>
    part.kind === 'thought' && part.seconds !== undefined && part.text.trim() === '';
  return { ...run, parts: parts.filter(part => !isNothing(part)), notice: undefined };
}

/** Removes words from the answer that turned out to be thought. */
function withoutTrailingText(parts: readonly Part[], words: string): Part[] {
  const last = parts[parts.length - 1];
  if (last?.kind !== 'text' || !last.text.endsWith(words)) {
    return [...parts];
  }
  const text = last.text.slice(0, last.text.length - words.length);
  return [...parts.slice(0, -1), ...(text.trim() ? [{ ...last, text }] : [])];
}

/** Ends a run and everything still open in it. */
export function endRun(run: Run, status: RunStatus): Run {
  const callStatus: ToolStatus = status === 'aborted' ? 'aborted' : 'interrupted';
  let ended: Run = { ...run, status, notice: undefined, draft: undefined };
  for (const call of callsOf(run)) {
    if (call.status === 'running' || call.status === 'waiting') {
      ended = changeCall(ended, call.callId, open => ({ ...open, status: callStatus, progress: undefined }));
    }
  }
  return ended;
}

function withRun(items: Conversation, runId: string, change: (run: Run) => Run): Conversation {
  const present = findRun(items, runId);
  const placed = present ? items : placeRun(items, newRun(runId));
  return replaceItem(placed, (present ?? findRun(placed, runId))!.key, item =>
    isRun(item) ? change(item) : item
  );
}

function withCall(run: Run, callId: string, tool: string, change: (call: ToolCall) => ToolCall): Run {
  if (callsOf(run).some(call => call.callId === callId)) {
    return changeCall(run, callId, change);
  }
  const made = newToolCall(callId, tool, {});
  const call = change(run.draft ? { ...made, isDrafted: true } : made);
  const part = { kind: 'tool' as const, key: `call-${callId}`, call };
  return { ...run, notice: undefined, draft: undefined, parts: [...run.parts, part] };
}

function draft(run: Run, { text, begins }: ToolDraftData): Run {
  const source = begins ? text : (run.draft ?? '') + text;
  return { ...run, notice: source ? undefined : run.notice, draft: source };
}

function startCall(run: Run, data: ToolStartedData, nowMs: number): Run {
  return withCall(run, data.callId, data.tool, call => ({
    ...call,
    input: data.input,
    label: data.activity ?? call.label,
    startedAtMs: nowMs,
    status: call.status === 'waiting' ? 'waiting' : 'running'
  }));
}

function showProgress(run: Run, data: ToolProgressData): Run {
  if (!data.callId) {
    return { ...run, notice: data.message };
  }
  return withCall(run, data.callId, data.tool, call => ({ ...call, progress: data.message }));
}

function finishCall(run: Run, data: ToolFinishedData, nowMs: number): Run {
  return withCall(run, data.callId, data.tool, call => ({
    ...call,
    input: Object.keys(call.input).length === 0 && data.input ? data.input : call.input,
    status: finishedStatus(call, data),
    output: data.output,
    attachments: data.attachments ?? [],
    label: data.label ?? call.label,
    data: data.data ?? undefined,
    failure: data.failure ?? undefined,
    progress: undefined,
    durationMs: call.startedAtMs === undefined ? undefined : Math.max(0, nowMs - call.startedAtMs)
  }));
}

function finishedStatus(call: ToolCall, data: ToolFinishedData): ToolStatus {
  if (data.status) {
    return data.status;
  }
  const decision = call.decision?.decision;
  if (decision === 'denied' || decision === 'expired') {
    return 'denied';
  }
  if (decision === 'aborted') {
    return 'aborted';
  }
  return data.ok ? 'ok' : 'failed';
}

function askApproval(run: Run, approval: ApprovalInfo): Run {
  return withCall(run, approval.callId, approval.toolName, call => ({
    ...call,
    approval,
    label: approval.activity ?? call.label,
    input: Object.keys(call.input).length > 0 ? call.input : approval.details,
    status: 'waiting'
  }));
}

function resolveApproval(items: Conversation, data: ApprovalResolvedData, nowMs: number): Conversation {
  const decision = { decision: data.decision, reason: data.reason ?? undefined };
  return items.map(item => {
    const call = isRun(item)
      ? callsOf(item).find(one => one.approval?.approvalId === data.approvalId)
      : undefined;
    if (!isRun(item) || !call || call.status !== 'waiting') {
      return item;
    }
    return changeCall(item, call.callId, waiting => ({
      ...waiting,
      decision: { ...waiting.decision, ...decision },
      startedAtMs: nowMs,
      status: data.decision === 'approved' ? 'running' : data.decision === 'aborted' ? 'aborted' : 'denied'
    }));
  });
}

/** Notes the scope of an approval given on this page: the event that all pages get doesn't include it. */
export function noteScope(items: Conversation, approvalId: string, scope: string): Conversation {
  const reach = (call: ToolCall): ToolCall => ({
    ...call,
    decision: { ...call.decision, decision: 'approved', scope }
  });
  return items.map(item => {
    const call = isRun(item) && callsOf(item).find(one => one.approval?.approvalId === approvalId);
    return isRun(item) && call ? changeCall(item, call.callId, reach) : item;
  });
}

function askQuestion(run: Run, question: QuestionInfo): Run {
  return withCall(run, question.callId, 'ask_user', call => ({ ...call, question, status: 'waiting' }));
}

/** The call itself ends a moment later, with its result. */
function resolveQuestion(run: Run, data: QuestionResolvedData, nowMs: number): Run {
  return changeCall(run, data.callId, call => ({
    ...call,
    questionOutcome: data.outcome,
    startedAtMs: nowMs,
    status: call.status !== 'waiting' ? call.status : data.outcome === 'aborted' ? 'aborted' : 'running'
  }));
}

/** A message that joins a run: already known, just sent from here, or from another tab. */
function steer(items: Conversation, { runId, messageId, text, context }: ChatSteeredData): Conversation {
  if (messagesOf(items).some(message => message.id === messageId)) {
    return items;
  }
  const known = { id: messageId, runId, steers: true, delivery: 'sent' as const };
  const own = items.find(
    item =>
      item.kind === 'user' &&
      item.id === undefined &&
      item.text === text &&
      (item.delivery === 'sending'
        ? (item.whenBusy ?? 'steer') === 'steer'
        : item.steers && item.runId === runId)
  );
  const read = context ? { context } : {};
  return own
    ? replaceItem(items, own.key, item => ({ ...item, ...known, ...read }) as UserMessage)
    : [...items, { kind: 'user', key: messageId, text, context: [], ...known, ...read }];
}

function note(run: Run, { kind, message, data }: ChatNoteData): Run {
  return addNote(run, `note-${run.parts.length}`, { kind, message, data: data ?? undefined });
}

/** The full text of the answer only fills in what no delta contained. */
function finish(run: Run, data: ChatFinalData): Run {
  const ended = { ...endRun(run, 'final'), usage: data.usage };
  const last = run.parts.filter(part => part.kind !== 'thought').at(-1);
  if (data.text && last?.kind !== 'text') {
    return {
      ...ended,
      parts: [...run.parts, { kind: 'text', key: `text-${run.parts.length}`, text: data.text }]
    };
  }
  return ended;
}
