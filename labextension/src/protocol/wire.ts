// Generated from the features of onyx_jupyter/app/ by `python -m onyx_jupyter.server.wire_types`. Do not edit.

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const UNKNOWN_METHOD = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const APPLICATION_ERROR = -32000;
export const MAX_MESSAGE_CHARS = 1000000;
export const MAX_FRAME_BYTES = 4194304;

/** `install` says how, if it is not installed; `model` is how a session names it. */
export interface AcpAgentInfo {
  name: string;
  title: string;
  model: string;
  installed: boolean;
  configured: boolean;
  command: string;
  install: string;
}

export interface AcpAgentList {
  agents: Array<AcpAgentInfo>;
}

export interface AcpChoice {
  value: string;
  name: string;
}

/** `choices` is empty for a switch; `category` is mode, model, thought_level or another word of the agent. */
export interface AcpOption {
  id: string;
  name: string;
  category: string;
  value: string | boolean;
  choices: Array<AcpChoice>;
}

export interface AcpOptions {
  /** the agent at work in this session; absent if there is none */
  agent?: string | null;
  options: Array<AcpOption>;
}

export interface AcpSessionParams {
  sessionKey: string;
}

export interface AcpSetOptionParams {
  sessionKey: string;
  option: string;
  value: string | boolean;
}

/** The agent of this session, or what is chosen for it, may have changed: read its options again. */
export interface AcpUpdatedData {
  sessionKey: string;
}

export interface Agent {
  id: string;
  name: string;
  /** provider/model; empty if none can answer yet */
  model: string;
  default: boolean;
  workspace: string;
}

export interface Agents {
  agents: Array<Agent>;
}

/** The data of `exec.approval_request`; from the transcript it has no `version` and cannot be answered. */
export interface ApprovalInfo {
  approvalId: string;
  runId: string;
  callId: string;
  toolName: string;
  summary: string;
  details: Record<string, unknown>;
  expiresAt: string;
  version?: string | null;
  activity?: LabelInfo | null;
  sessionKey?: string | null;
  seq?: number | null;
}

export interface ApprovalList {
  approvals: Array<ApprovalInfo>;
}

export interface ApprovalResolvedData {
  approvalId: string;
  decision: "approved" | "denied" | "expired" | "aborted";
  by: string;
  reason?: string | null;
  sessionKey: string;
  seq: number;
}

export interface ApprovalsListParams {
  sessionKey?: string | null;
}

export interface AttachmentInfo {
  type: "image" | "file";
  mimeType: string;
  data: string;
  name?: string | null;
}

export interface CallParams {
  tool: string;
  arguments?: Record<string, unknown>;
}

/**
 * What turns did to a cell that nobody has decided about yet.
 *
 * `before` is absent for an added cell, `after` for a deleted one and where the text was not touched. `above` are the
 * ids over the place where a moved or deleted cell stood, the nearest first. `working` says that a turn still goes on.
 */
export interface CellMark {
  cellId: string;
  kinds: Array<"added" | "edited" | "deleted" | "moved" | "ran">;
  before?: CellText | null;
  after?: CellText | null;
  above?: Array<string> | null;
  turns: Array<ReviewedTurn>;
  working?: boolean;
}

export interface CellText {
  cellType: "code" | "markdown" | "raw";
  source: string;
}

export interface ChatAbortParams {
  runId: string;
}

/** `usage` is absent if the run never began. */
export interface ChatAbortedData {
  runId: string;
  sessionKey: string;
  seq: number;
  usage?: UsageInfo | null;
}

/**
 * What a person has written so far, once a pause: a model of this machine then reads what it will begin with.
 *
 * An empty text says that the input has the focus and nothing stands in it, or, for a model of another machine, that
 * somebody writes: what the answer needs is loaded then.
 *
 * Nothing of it is kept or goes to another machine. Without `sessionKey` the conversation has not begun.
 */
export interface ChatComposingParams {
  /** its beginning */
  text: string;
  sessionKey?: string | null;
  model?: string | null;
  mode?: "ask" | "agent" | "auto" | null;
}

export interface ChatDeltaData {
  runId: string;
  seq: number;
  text: string;
}

/** `usage` is absent if the run never began. */
export interface ChatErrorData {
  runId: string;
  sessionKey: string;
  seq: number;
  code: string;
  message: string;
  hint?: string | null;
  usage?: UsageInfo | null;
}

export interface ChatFinalData {
  runId: string;
  sessionKey: string;
  seq: number;
  text: string;
  usage: UsageInfo;
}

export interface ChatHistory {
  messages: Array<Entry>;
}

export interface ChatHistoryParams {
  sessionKey: string;
  limit?: number;
  /** id of an entry; only older ones are returned */
  before?: string | null;
}

/** Messages that came during the run have their place in it here: between what came before and what comes next. */
export interface ChatJoinedData {
  runId: string;
  sessionKey: string;
  seq: number;
  messageIds: Array<string>;
}

/** Something to know about the run: a file over its cap, a conversation summed up, another model that answered. */
export interface ChatNoteData {
  runId: string;
  sessionKey: string;
  seq: number;
  kind: string;
  message: string;
  data?: Record<string, unknown> | null;
}

export interface ChatSendParams {
  sessionKey: string;
  message: string;
  context?: Array<ContextItem> | null;
  model?: string | null;
  /** whether the model proposes cells or calls tools; default: its provider's toolMode */
  toolMode?: "cell" | "tools" | null;
  /** how much the model thinks for this message; default: its provider's effort */
  effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  mode?: "ask" | "agent" | "auto" | null;
  /** what to do during a run; default: runtime.whenBusy */
  whenBusy?: "steer" | "followup" | "interrupt" | null;
  /** sent from a cell, whose kernel is busy until it has the answer */
  fromKernel?: OriginKernel | null;
  /** written by a person in a chat; nothing else is remembered automatically */
  typed?: boolean;
}

/** `runId` is the run that answers: a new one, or with `steer` the one that goes on. */
export interface ChatSent {
  runId: string;
  delivery?: "started" | "steer" | "followup" | "interrupt" | null;
  /** what was attached, as the model gets it */
  context?: Array<SentItem> | null;
}

export interface ChatStartedData {
  runId: string;
  sessionKey: string;
  seq: number;
}

/** A message that came during the run and waits to join it. */
export interface ChatSteeredData {
  runId: string;
  sessionKey: string;
  seq: number;
  messageId: string;
  text: string;
  /** what was attached, as the model gets it */
  context?: Array<SentItem> | null;
}

/** What the model thinks before it answers; the text of all pieces is one. */
export interface ChatThoughtData {
  runId: string;
  seq: number;
  text: string;
  /** with the last piece: how long the model thought */
  seconds?: number | null;
  /** this text was sent as the end of the answer and is withdrawn */
  wasSaid?: boolean | null;
}

/**
 * Why a tab could not do it.
 *
 * Codes: not_open, no_cell, stale, cell_exists, would_empty, too_large, no_kernel, kernel_died, not_code, no_run,
 * kernel_busy, closed, bad_request, internal.
 */
export interface ClientError {
  code: string;
  message: string;
  data?: Record<string, unknown> | null;
}

/**
 * Asked of one tab alone. Actions: notebook.read, .apply, .wait, .run, .join, .interrupt, .restart, .open.
 *
 * notebook.read {path, from, inFull, only?, last?} answers all cells, or those of `only` and the `last` ones, with
 * `sizes` [[id, source chars], …] of all. notebook.run {path, cellId, runKey, baseHash?} refuses (stale) a cell
 * that has another source when its turn comes.
 */
export interface ClientRequest {
  requestId: string;
  action: string;
  params: Record<string, unknown>;
}

export interface ClientRespondParams {
  requestId: string;
  result?: Record<string, unknown> | null;
  error?: ClientError | null;
}

/**
 * `path` is the notebook of that kernel, where this server has started it; `shown` says that a tab has it open.
 *
 * `cards` are the MIME types of ours that every tab which has it open draws.
 */
export interface ClientShows {
  shown: boolean;
  path?: string | null;
  cards?: Array<string>;
}

/** A kernel asks for the notebook that it runs. */
export interface ClientShowsParams {
  kernelId: string;
}

/**
 * What this tab has open now; it replaces what the tab said before.
 *
 * `page_id` stays the same over all connections of a page, of which only the newest counts. `cards` are the MIME types
 * of ours that it draws; a page from before an upgrade does not know the newest. `folder` is the one that its file
 * browser shows, None where it has none.
 */
export interface ClientUpdateParams {
  notebooks: Array<OpenNotebook>;
  pageId?: string | null;
  cards?: Array<string>;
  folder?: string | null;
}

/** One part's state; `hint` says what to do when it is not ok. Only `config` has `problems`. */
export interface Component {
  ok: boolean;
  message: string;
  hint?: string | null;
  problems?: Array<ConfigProblem> | null;
}

/**
 * What is wrong at one key: `error` if its value is refused, `warning` if it has no effect.
 *
 * `line` is that of onyx.json; `variable` is set if the environment is at fault instead.
 */
export interface ConfigProblem {
  severity: "error" | "warning" | "notice";
  message: string;
  key?: string | null;
  line?: number | null;
  variable?: string | null;
}

/**
 * Something sent along with a message, named as in the file browser. Its text is read when it is sent.
 *
 * `text` is what the client itself read: a selection always, with its lines (counted from 1) where they are known.
 * `cellId` belongs to a cell, an error, a selection in a cell, and to the notebook for the cell one stands in; `name`
 * is a variable of the notebook's kernel; `label` is what a person would call it (cell 4). A `memory` is found by Onyx
 * itself in its notes, with the lines where it stands: none is taken from a client.
 */
export interface ContextItem {
  type: "notebook" | "cell" | "file" | "selection" | "variable" | "error" | "memory";
  path: string;
  cellId?: string | null;
  name?: string | null;
  startLine?: number | null;
  endLine?: number | null;
  label?: string | null;
  text?: string | null;
}

export interface ContextPreview {
  items: Array<SentItem>;
}

/** What would be sent with these items now, in this session and to this model. */
export interface ContextPreviewParams {
  items: Array<ContextItem>;
  sessionKey?: string | null;
  model?: string | null;
}

export interface CredentialParams {
  name: string;
}

export interface CredentialsSetParams {
  /** the provider's name */
  name: string;
  secret: string;
}

/** One line of a transcript, as it stands on disk. `meta.kind` tells a system entry's meaning. */
export interface Entry {
  v: number;
  id: string;
  parent?: string | null;
  ts: string;
  role: "user" | "assistant" | "tool" | "system";
  content: string;
  tool_calls?: Array<ToolCallEntry> | null;
  tool_call_id?: string | null;
  usage?: UsageInfo | null;
  meta?: Record<string, unknown> | null;
  [key: string]: unknown;
}

export interface ExecApproveParams {
  approvalId: string;
  scope?: "once" | "session" | "always";
  /** version of the question as shown; the answer applies to that version only */
  version?: string | null;
}

export interface ExecDenyParams {
  approvalId: string;
  reason?: string | null;
}

/** Why a call did not end well; what `timed_out`, was `aborted` or `failed` was done all the same, or begun. */
export interface FailureInfo {
  kind: "denied" | "invalid" | "not_found" | "unavailable" | "timed_out" | "aborted" | "failed";
  reason: string;
}

/** Something exact that an agent may do unasked until it is revoked; `what` says it in words. */
export interface GrantInfo {
  id: string;
  tool: string;
  what: string;
  agentId: string;
  createdAt: string;
  by: string;
}

export interface GrantList {
  grants: Array<GrantInfo>;
}

export interface GrantsRevokeParams {
  grantId: string;
}

/** Something was allowed for good, or revoked: ask for the list again. */
export interface GrantsUpdatedData {
}

export interface Health {
  status: "ok" | "degraded";
  /** seconds since the extension was loaded */
  uptime: number;
  version: string;
  components: Record<string, Component>;
  /** omitted if nothing is restricted */
  ceiling?: ServerCeiling | null;
}

/** A beat that asked a model. `quiet`: it said something that waits here; `isCut`: HEARTBEAT.md did not fit. */
export interface HeartbeatEntry {
  at: string;
  agentId: string;
  outcome: "ok" | "silent" | "failed" | "aborted" | "interrupted";
  text?: string | null;
  error?: string | null;
  denied?: Array<string>;
  sessionKey?: string | null;
  runId?: string | null;
  quiet?: boolean;
  isCut?: boolean;
}

/**
 * The heartbeat of one agent. `hasTasks`: its HEARTBEAT.md holds something; `isCut`: more than a beat takes.
 *
 * `ownKeys` are those that the agent has in `agents.list`; they count before those of `heartbeat`.
 */
export interface HeartbeatState {
  agentId: string;
  agentName: string;
  enabled: boolean;
  intervalMs: number;
  activeHours?: string | null;
  quietMode: boolean;
  ownKeys: Array<string>;
  hasTasks: boolean;
  isCut: boolean;
  nextAt?: string | null;
  running: boolean;
}

/** `runsHere`: the agents beat on this server; else on another one on the same home. */
export interface HeartbeatStates {
  agents: Array<HeartbeatState>;
  runsHere: boolean;
}

/** Newest first. */
export interface Heartbeats {
  entries: Array<HeartbeatEntry>;
}

export interface HeartbeatsParams {
  limit?: number;
}

/**
 * A run (without `outcome` while it goes on), or planned times that were missed: `count` at least, and why.
 *
 * `denied` are tools that the job's policy did not allow: allow them there, and run it again.
 */
export interface HistoryEntry {
  kind: "started" | "missed";
  jobId: string;
  at: string;
  key?: string | null;
  name?: string | null;
  planned?: string | null;
  finishedAt?: string | null;
  outcome?: "ok" | "silent" | "failed" | "aborted" | "interrupted" | null;
  text?: string | null;
  error?: string | null;
  hint?: string | null;
  denied?: Array<string>;
  sessionKey?: string | null;
  runId?: string | null;
  since?: string | null;
  until?: string | null;
  count?: number | null;
  because?: "off" | "running" | "backoff" | null;
}

/**
 * A job as kept, `when` it runs in words, and its state.
 *
 * `recent` are its newest outcomes, oldest first; `disabled`: it failed too often to run by itself.
 */
export interface JobInfo {
  id: string;
  name: string;
  agentId: string;
  kind: "at" | "every" | "cron";
  at?: string | null;
  everyMs?: number | null;
  cron?: string | null;
  tz?: string | null;
  when: string;
  message?: string | null;
  toolCalls: Array<CallParams>;
  skill?: string | null;
  parameters: Record<string, unknown>;
  synthesisPrompt?: string | null;
  sessionTarget: "main" | "isolated";
  targetReason: string;
  model?: string | null;
  policy: Array<string>;
  wake: "now" | "heartbeat";
  catchUp: boolean;
  enabled: boolean;
  createdAt: string;
  nextAt?: string | null;
  lastRunAt?: string | null;
  running: boolean;
  recent: Array<"ok" | "silent" | "failed" | "aborted" | "interrupted">;
  failures: number;
  missed: number;
  disabled: boolean;
}

/** A variable in one line; `sizeBytes` is what its data takes, where that is known. */
export interface KernelVariable {
  name: string;
  kind: "frame" | "array" | "object" | "container" | "text" | "value" | "function" | "class" | "module";
  type: string;
  summary: string;
  sizeBytes?: number | null;
}

/**
 * Frames and arrays first, the newest first among equals.
 *
 * `state` is `ok`, or why there are none: no_kernel, kernel_dead, kernel_restarting, kernel_busy, not_python,
 * too_slow, not_readable. `message` then says it in words. `leftOut` counts those beyond the limit.
 */
export interface KernelVariableList {
  state: string;
  message?: string;
  variables: Array<KernelVariable>;
  leftOut?: number;
}

export interface KernelVariablesParams {
  /** as in the file browser */
  path: string;
  /** part of a name, or a pattern with * and ? */
  pattern?: string | null;
  limit?: number;
}

/** `place` is where the key of the stored keys is kept; omitted as long as nothing is stored. */
export interface KeyStore {
  place?: "keyring" | "file" | null;
  problem?: string | null;
}

/** Either a path (a file or a folder, as in the file browser) or a URL. What is there already is read anew. */
export interface KnowledgeAddParams {
  path?: string | null;
  url?: string | null;
  /** agent whose allowed folders apply; default: the agent marked `default` */
  agentId?: string | null;
}

/**
 * What was added at once. `done` of `total` files were looked at, and `chunks` passages can be found.
 *
 * `problem` is of the item as a whole; `problems` are the first of its files', `problemCount` counts all.
 */
export interface KnowledgeItemInfo {
  itemId: string;
  kind: "path" | "url" | "upload";
  path: string;
  title: string;
  addedAt: string;
  state: "waiting" | "reading" | "done" | "stopped" | "failed";
  done: number;
  total: number;
  chunks: number;
  problemCount: number;
  problems?: Array<KnowledgeProblem>;
  problem?: string | null;
}

export interface KnowledgeItemParams {
  itemId: string;
}

/** The oldest first. A file that is uploaded may have `maxUploadBytes`. */
export interface KnowledgeList {
  items: Array<KnowledgeItemInfo>;
  maxUploadBytes: number;
}

/**
 * A passage; `text` is all of it, `snippet` what shows why it was found. `score` is between 0 and 1.
 *
 * Lines are the file's own, counted from 1; where its text was drawn from something else there are none, and `page`
 * or `cell` say where it is.
 */
export interface KnowledgePassageInfo {
  path: string;
  title: string;
  heading: string;
  score: number;
  snippet: string;
  text: string;
  startLine?: number | null;
  endLine?: number | null;
  page?: number | null;
  cell?: number | null;
  cellId?: string | null;
}

/** Why a file, or a part of it, cannot be found, and what to do. */
export interface KnowledgeProblem {
  path: string;
  message: string;
}

export interface KnowledgeRefreshParams {
  /** default: everything */
  itemId?: string | null;
}

/** `note` says what kept the search from being better. */
export interface KnowledgeResults {
  results: Array<KnowledgePassageInfo>;
  note?: string | null;
}

export interface KnowledgeSearchParams {
  query: string;
  limit?: number;
  /** these folders and everything below them */
  paths?: Array<string> | null;
  /** only what this agent may read; default: everything */
  agentId?: string | null;
}

/** Something was removed: ask for the list. */
export interface KnowledgeUpdatedData {
}

/** `action` is a key of the table of words, `object` what it is done to, `count` to how many. */
export interface LabelInfo {
  action: string;
  object?: string;
  objectKind?: "text" | "code" | "path" | "address";
  count?: number | null;
  links?: Array<LinkInfo>;
}

/**
 * Something that was not put back. Reasons for a cell: `changed` since, `changed_later` by another turn, `deleted`,
 * `moved`, `ran` since, `running` now, `outputs_not_kept`, `not_found`; for a whole notebook (no `cellId`) the error's
 * code, with its message.
 */
export interface LeftAlone {
  path: string;
  cellId?: string | null;
  reason: string;
  message?: string | null;
}

/** A place that a screen can lead to: a cell, a file, or lines (from, to) or one fact of the memory. */
export interface LinkInfo {
  kind: "cell" | "file" | "memory";
  path: string;
  cellId?: string | null;
  fact?: string | null;
  lines?: Array<number> | null;
}

/**
 * One model and its file. `ready`: it can be chosen. `paused`: `doneBytes` of it are there, and it can go on.
 *
 * `failed`: no source had the file, as `error` says. What is paused may have an `error`, too.
 */
export interface LocalModelInfo {
  id: string;
  title: string;
  bytes: number;
  licence: string;
  /** its parameter count, in words */
  parameters: string;
  contextTokens: number;
  state: "ready" | "missing" | "fetching" | "paused" | "failed";
  doneBytes: number;
  /** free memory it needs, in bytes */
  leastMemory: number;
  /** whether that much was free when checked */
  fitsMemory: boolean;
  /** the best one that fits; exactly one in the list */
  recommended: boolean;
  removable: boolean;
  /** the file is shared by everyone who uses this installation */
  shared: boolean;
  /** the current download source */
  source?: string | null;
  /** who is downloading it, if not this server */
  fetcher?: string | null;
  error?: string | null;
  /** the file's path, once it is ready */
  path?: string | null;
}

/** The best first. */
export interface LocalModelList {
  models: Array<LocalModelInfo>;
}

export interface LocalModelParams {
  id: string;
}

export interface LocalModelsRemoveParams {
  id: string;
  /** also remove a shared file; refused without this */
  shared?: boolean;
}

/** `noteId` is the `id` in the data of a note of the kind `compaction`, `proposal` counts its proposals from 0. */
export interface MemoryAcceptParams {
  sessionKey: string;
  noteId: string;
  proposal: number;
}

/** `reason` says to the person why nothing was done; what was done comes as a note with the same id. */
export interface MemoryAnswer {
  ok: boolean;
  reason?: string | null;
}

/** A unified diff, empty where nothing differs; `checksum` is that of the file now, empty where it is gone. */
export interface MemoryDiff {
  diff: string;
  checksum: string;
}

/** The change from `version` to `to`, or to the file as it is now; 0 is the nothing before the first one. */
export interface MemoryDiffParams {
  path: string;
  version: number;
  /** another version; default: the current file */
  to?: number | null;
  agentId?: string | null;
}

export interface MemoryEmbedder {
  provider: string;
  model: string;
  dimension: number;
}

/**
 * A fact of `memory/facts.jsonl` as its last line says; `lines` are all that tell of it, counted from 1.
 *
 * `confidence` is that of now, from 0 to 1. It was first told at `since`, last at `toldAt`, and true from `validFrom`
 * to `validUntil`; without that it still is. `supersededBy` is the id of the fact that took its place.
 */
export interface MemoryFact {
  id: string;
  text: string;
  category: string;
  confidence: number;
  lines: Array<number>;
  since: string;
  toldAt: string;
  validFrom: string;
  validUntil?: string | null;
  supersededBy?: string | null;
  author: "user" | "agent" | "consolidation";
  sessionKey?: string | null;
}

/** `otherLines` counts those that are no fact. */
export interface MemoryFacts {
  facts: Array<MemoryFact>;
  otherLines?: number;
}

/**
 * A memory file; one under `shared/` belongs to all agents. `checksum` is what a change of it is based on.
 *
 * `indexed`: search knows it as it stands. `problem` says why it cannot be searched. Of a `deleted` one only versions
 * are left.
 */
export interface MemoryFileInfo {
  path: string;
  shared: boolean;
  sizeBytes: number;
  changedAt?: string | null;
  checksum?: string | null;
  versions: number;
  indexed: boolean;
  deleted?: boolean;
  problem?: string | null;
}

export interface MemoryFileList {
  files: Array<MemoryFileInfo>;
}

export interface MemoryFilesParams {
  /** default: the agent marked `default` */
  agentId?: string | null;
}

/**
 * Lines of a memory file, counted from 1; `score` and its parts are between 0 and 1, and higher is better.
 *
 * A part that did not count is left out. `agentId` is left out for what all agents share; `day` is set for what grows
 * old.
 */
export interface MemoryPassage {
  path: string;
  startLine: number;
  endLine: number;
  heading: string;
  score: number;
  snippet: string;
  kind?: "memory" | "shared" | "session" | "document" | "fact";
  agentId?: string | null;
  vectorScore?: number | null;
  textScore?: number | null;
  recency?: number | null;
  day?: string | null;
}

/** Why a file cannot be searched; without `path` what is wrong beyond one: index, embedder, keeping of versions. */
export interface MemoryProblem {
  message: string;
  path?: string | null;
  agentId?: string | null;
}

/** Files that are being read into the index. */
export interface MemoryProgress {
  done: number;
  total: number;
}

export interface MemoryReadParams {
  path: string;
  agentId?: string | null;
  /** default: the current file */
  version?: number | null;
}

export interface MemoryRestoreParams {
  path: string;
  version: number;
  /** checksum of the file as shown; refused if it has changed since */
  basedOn?: string | null;
  agentId?: string | null;
}

/** `version` is the new one, which holds what the restored one held. */
export interface MemoryRestored {
  path: string;
  version: number;
}

/** `note` says what kept the search from being better. */
export interface MemoryResults {
  results: Array<MemoryPassage>;
  note?: string | null;
}

/** `kinds`, `paths` (prefixes), `since` and `until` limit what may be found; default: everything. */
export interface MemorySearchParams {
  query: string;
  agentId?: string | null;
  limit?: number;
  /** default: memory.minScore */
  minScore?: number | null;
  kinds?: Array<"memory" | "shared" | "fact"> | null;
  paths?: Array<string> | null;
  since?: string | null;
  until?: string | null;
}

/**
 * How search stands. `searches`: by the index, or by words in the files alone while the index cannot be used.
 *
 * `seeksEmbedder`: which embedder there is, is still being found out; `memory.updated` comes when it is known.
 */
export interface MemoryStatus {
  searches: "index" | "words";
  embedder?: MemoryEmbedder | null;
  seeksEmbedder?: boolean;
  files: number;
  chunks?: number | null;
  problems: Array<MemoryProblem>;
  progress?: MemoryProgress | null;
}

/** A file's text; `checksum` is of the whole, also where the text is `cut`. `facts` are those that it tells. */
export interface MemoryText {
  path: string;
  text: string;
  checksum: string;
  cut?: boolean;
  facts?: MemoryFacts | null;
}

/** `noteId` is the `id` in the data of a note of the kind `memory`. */
export interface MemoryUndoParams {
  sessionKey: string;
  noteId: string;
}

/**
 * A memory file has changed, or, without `path`, how search stands.
 *
 * `agentId` is left out for what all agents share; `author` and `version` where nobody kept one.
 */
export interface MemoryUpdatedData {
  path?: string | null;
  agentId?: string | null;
  author?: "user" | "agent" | "consolidation" | null;
  version?: number | null;
}

/**
 * A state of a file from `at` on. `current`: the file is like that now. `deleted`: it was gone.
 *
 * `restored` is the number of the version that was brought back.
 */
export interface MemoryVersionInfo {
  version: number;
  at: string;
  author: "user" | "agent" | "consolidation";
  sizeBytes: number;
  current: boolean;
  sessionKey?: string | null;
  restored?: number | null;
  deleted?: boolean;
}

/** The newest first; `total` counts those that are kept. */
export interface MemoryVersions {
  versions: Array<MemoryVersionInfo>;
  total: number;
}

export interface MemoryVersionsParams {
  path: string;
  agentId?: string | null;
  limit?: number;
  /** only versions with a smaller number */
  before?: number | null;
}

/**
 * A `locked` one is not allowed on this server: it is shown and cannot be chosen.
 *
 * `tool_mode` is how it acts unless a message says otherwise, `efforts` how much a message can ask it to think.
 */
export interface ModelInfo {
  id: string;
  provider: string;
  local: boolean;
  tools: boolean;
  locked?: boolean;
  toolMode?: "cell" | "tools";
  efforts?: Array<"none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max">;
}

export interface ModelList {
  models: Array<ModelInfo>;
}

export interface ModelsListParams {
  refresh?: boolean;
}

export interface NoParams {
}

export interface NotebookAccepted {
  cells: number;
}

export interface NotebookChanges {
  marks: Array<CellMark>;
  turns: Array<TurnInfo>;
}

/** Exactly one of the two: the marks in a notebook, or what each turn of a session did. */
export interface NotebookChangesParams {
  path?: string | null;
  sessionKey?: string | null;
}

/**
 * Something changed in these notebooks, or was decided: ask again. `removed` ones have no file any more.
 *
 * `removed_cells`: of each removed one, its cells and their hashes; a tab that holds anything else has to stay open.
 */
export interface NotebookChangesUpdatedData {
  paths?: Array<string> | null;
  sessionKey?: string | null;
  runId?: string | null;
  removed?: Array<string> | null;
  removedCells?: Record<string, Record<string, string>> | null;
}

/**
 * These cells' marks, or all of the notebook's.
 *
 * `shown` is what the person saw of them: cell id and the hash of `after`, "" where there is none. A mark that is
 * another one by now, or was not shown, is left to be seen; without it, marks are taken as they are.
 */
export interface NotebookMarksParams {
  path: string;
  cellIds?: Array<string> | null;
  shown?: Record<string, string> | null;
}

/** `removed` notebooks are gone (into the bin, where the server has one), `made` ones are there again. */
export interface NotebookReverted {
  cells: number;
  paths: Array<string>;
  leftAlone: Array<LeftAlone>;
  removed: Array<string>;
  made: Array<string>;
}

export interface NotebookTurnParams {
  sessionKey: string;
  runId: string;
}

export interface Ok {
  ok: boolean;
}

/** Ids of choices, and own words. Both empty: the former answer is taken back. */
export interface OnboardingAnswerParams {
  agentId?: string | null;
  questionId: string;
  choices?: Array<string>;
  text?: string;
}

/** A question that came before, and what was answered, in words; empty if it was skipped. */
export interface OnboardingAnswered {
  text: string;
  answer: string;
}

/** `line` is what it writes, empty if nothing. */
export interface OnboardingChoice {
  id: string;
  label: string;
  line: string;
}

/** A file as it was shown. */
export interface OnboardingConfirmed {
  path: string;
  basedOn: string;
  checksum: string;
}

/**
 * A file as it would be written. `basedOn` and `checksum` identify what it is now and what it would become.
 *
 * With a `problem` it cannot be written. `diff` is a unified diff from the file as it is now.
 */
export interface OnboardingFile {
  path: string;
  isNew?: boolean;
  text?: string;
  diff?: string;
  basedOn?: string;
  checksum?: string;
  problem?: string | null;
}

/** Without `agentId`, the default agent. */
export interface OnboardingParams {
  agentId?: string | null;
}

/** Own words, which the agent's model turns into the text of an instruction. */
export interface OnboardingPhraseParams {
  agentId?: string | null;
  questionId: string;
  text: string;
}

/** `text` in place of the words, and the whole `line` that it writes. */
export interface OnboardingPhrased {
  text: string;
  line: string;
}

/** The files that would change. */
export interface OnboardingPreview {
  files: Array<OnboardingFile>;
}

/**
 * `one` choice, `many`, or own words: one line of `text`, or `lines`. `other` is the hint of the field for words.
 *
 * `chosen` and `words` are the answer given so far. `canBePhrased`: there is a model for `onboarding.phrase`.
 */
export interface OnboardingQuestion {
  id: string;
  text: string;
  kind: "one" | "many" | "text" | "lines";
  file: string;
  choices: Array<OnboardingChoice>;
  other: string;
  chosen: Array<string>;
  words: string;
  canBePhrased: boolean;
}

export interface OnboardingSkipParams {
  agentId?: string | null;
  questionId: string;
}

/**
 * Without `question`, the files are to be reviewed. `number` of `total` questions, from 1.
 *
 * `offered`: a new user should hear that onboarding exists. `begun`: there are answers that were never written.
 */
export interface OnboardingState {
  agentId: string;
  offered: boolean;
  begun: boolean;
  phase: string;
  optional: boolean;
  number: number;
  total: number;
  question?: OnboardingQuestion | null;
  answered: Array<OnboardingAnswered>;
  writtenAt?: string | null;
}

/** Answers or files changed, maybe in another tab: ask again. */
export interface OnboardingUpdatedData {
  agentId: string;
}

/** Every file as it was shown; what has changed since is refused (`memory_conflict`), and nothing is written. */
export interface OnboardingWriteParams {
  agentId?: string | null;
  files: Array<OnboardingConfirmed>;
}

/** The paths written, from the agent's workspace. */
export interface OnboardingWritten {
  paths: Array<string>;
}

/** A notebook that a tab has open; `active` is the one in front. */
export interface OpenNotebook {
  path: string;
  active?: boolean;
}

/** The kernel whose cell asks; `name` is that of its notebook, for people, where the kernel knows it. */
export interface OriginKernel {
  kernelId: string;
  name?: string | null;
}

/** Another content by now is refused (`project_file_changed`). */
export interface ProjectDecisionParams {
  path: string;
  /** hash of the content that was shown */
  digest: string;
}

/** One file as it is now. `unusable`: `reason` says why nobody can trust it; text and digest are empty then. */
export interface ProjectFile {
  /** relative to the server's root */
  path: string;
  state: "new" | "changed" | "trusted" | "declined" | "unusable";
  /** identifies this content, for `project.trust` and `project.decline` */
  digest: string;
  lines: number;
  /** the full text that would be trusted */
  text: string;
  /** unified diff from the last trusted version; None if no line differs */
  diff?: string | null;
  reason?: string | null;
}

export interface ProjectFiles {
  /** name of the server's root folder */
  folder: string;
  files: Array<ProjectFile>;
}

/** The instructions changed, or what somebody said of them: ask for them again. */
export interface ProjectUpdatedData {
}

/**
 * One provider as the settings show it.
 *
 * `state`: `connected` answered since this server started, `ready` has what it needs, `failing` did not answer,
 * `not_configured` has no key or server, `locked` is not allowed here. `key` says where its key comes from.
 */
export interface ProviderCard {
  name: string;
  title: string;
  state: "connected" | "ready" | "failing" | "not_configured" | "locked";
  message?: string | null;
  hint?: string | null;
  key?: "reference" | "environment" | "store" | "file" | null;
  /** the environment variable that holds the key */
  variable?: string | null;
  /** onyx.json contains a key, whether or not it is the one used */
  keyInFile?: boolean;
  /** variables that are looked at for a key */
  keyVariables?: Array<string>;
  needsKey: boolean;
  baseUrl?: string | null;
  /** a server of this machine or at a configured address */
  ownServer: boolean;
  /** model ids to choose from */
  models: Array<string>;
  subscription?: Subscription | null;
}

export interface ProviderList {
  providers: Array<ProviderCard>;
  keyStore: KeyStore;
}

/** One real completion; `costUsd` is omitted if the price is unknown. A failure has a `message`. */
export interface ProviderTest {
  ok: boolean;
  model: string;
  firstMs?: number | null;
  totalMs?: number | null;
  inputTokens?: number | null;
  outputTokens?: number | null;
  costUsd?: number | null;
  message?: string | null;
  hint?: string | null;
}

export interface ProvidersListParams {
  /** ask the servers which models they have */
  refresh?: boolean;
}

export interface ProvidersTestParams {
  name: string;
  /** model id; default: the default model if it is one of theirs */
  model?: string | null;
}

/** Something about the providers has changed: read the list again. */
export interface ProvidersUpdatedData {
}

/** The data of `chat.question`: choices to click on, and whether other words are welcome. */
export interface QuestionInfo {
  questionId: string;
  runId: string;
  callId: string;
  question: string;
  choices: Array<string>;
  freeText: boolean;
  expiresAt: string;
  sessionKey?: string | null;
  seq?: number | null;
}

export interface QuestionList {
  questions: Array<QuestionInfo>;
}

export interface QuestionResolvedData {
  runId: string;
  sessionKey: string;
  seq: number;
  questionId: string;
  callId: string;
  outcome: "answered" | "declined" | "expired" | "aborted";
  by: string;
  answer?: string | null;
}

export interface QuestionsAnswerParams {
  questionId: string;
  /** omitted: declined */
  answer?: string | null;
}

export interface QuestionsListParams {
  sessionKey?: string | null;
}

export interface ReviewedTurn {
  sessionKey: string;
  runId: string;
}

export interface ScheduleCreateParams {
  name?: string | null;
  at?: string | null;
  everyMs?: number | null;
  cron?: string | null;
  tz?: string | null;
  message?: string | null;
  toolCalls?: Array<CallParams> | null;
  skill?: string | null;
  parameters?: Record<string, unknown> | null;
  synthesisPrompt?: string | null;
  sessionTarget?: "main" | "isolated" | null;
  model?: string | null;
  policy?: Array<string> | null;
  wake?: "now" | "heartbeat" | null;
  catchUp?: boolean | null;
  enabled?: boolean | null;
  agentId?: string | null;
}

/**
 * A run has ended, `at` then. `alert`: it has failed for the second time in a row, or for good.
 *
 * `disabled`: it has failed so often that it no longer runs by itself. Nobody needs to hear of a `silent` one.
 */
export interface ScheduleFinishedData {
  jobId: string;
  name: string;
  key: string;
  at: string;
  outcome: "ok" | "silent" | "failed" | "aborted" | "interrupted";
  text?: string | null;
  error?: string | null;
  denied?: Array<string>;
  sessionKey?: string | null;
  alert: boolean;
  disabled: boolean;
}

/**
 * A beat that asked a model has ended; it began `at` then.
 *
 * `acts`: it has something to say; `quiet`: that waits in the log of heartbeats.
 */
export interface ScheduleHeartbeatData {
  agentId: string;
  at: string;
  outcome: "ok" | "silent" | "failed" | "aborted" | "interrupted";
  acts: boolean;
  quiet: boolean;
  text?: string | null;
  error?: string | null;
  sessionKey?: string | null;
}

export interface ScheduleHistory {
  entries: Array<HistoryEntry>;
}

/**
 * Newest first; of all jobs without a `jobId`. `before` is an entry's `at`, for those before it.
 *
 * `since`, an ISO 8601 time in UTC, leaves out what ended before it, and what has not ended.
 */
export interface ScheduleHistoryParams {
  jobId?: string | null;
  limit?: number;
  before?: string | null;
  since?: string | null;
}

export interface ScheduleJob {
  job: JobInfo;
}

export interface ScheduleJobParams {
  jobId: string;
}

/** `runsHere`: this server runs the jobs; else another one on the same home does. `problems` of the file. */
export interface ScheduleList {
  jobs: Array<JobInfo>;
  total: number;
  runsHere: boolean;
  problems: Array<string>;
}

export interface ScheduleListParams {
  agentId?: string | null;
  query?: string | null;
  limit?: number;
  offset?: number;
}

/** `when` it would run in words, its `next` times as clocks there show them, and in which session, and why. */
export interface SchedulePreview {
  when: string;
  next: Array<string>;
  sessionTarget: "main" | "isolated";
  targetReason: string;
}

/** Of a new job, or of the changes to `jobId`. */
export interface SchedulePreviewParams {
  name?: string | null;
  at?: string | null;
  everyMs?: number | null;
  cron?: string | null;
  tz?: string | null;
  message?: string | null;
  toolCalls?: Array<CallParams> | null;
  skill?: string | null;
  parameters?: Record<string, unknown> | null;
  synthesisPrompt?: string | null;
  sessionTarget?: "main" | "isolated" | null;
  model?: string | null;
  policy?: Array<string> | null;
  wake?: "now" | "heartbeat" | null;
  catchUp?: boolean | null;
  enabled?: boolean | null;
  jobId?: string | null;
}

export interface ScheduleStarted {
  key: string;
}

/** `enabled: true` also lets a job run again that failed too often. */
export interface ScheduleUpdateParams {
  name?: string | null;
  at?: string | null;
  everyMs?: number | null;
  cron?: string | null;
  tz?: string | null;
  message?: string | null;
  toolCalls?: Array<CallParams> | null;
  skill?: string | null;
  parameters?: Record<string, unknown> | null;
  synthesisPrompt?: string | null;
  sessionTarget?: "main" | "isolated" | null;
  model?: string | null;
  policy?: Array<string> | null;
  wake?: "now" | "heartbeat" | null;
  catchUp?: boolean | null;
  enabled?: boolean | null;
  jobId: string;
}

/** A job has been added, changed, removed, or has begun or ended; null: several. */
export interface ScheduleUpdatedData {
  jobId?: string | null;
}

/** `reason`, in words for the agent, stands in the beat's message. */
export interface ScheduleWakeParams {
  agentId?: string | null;
  reason?: string;
}

/** When it looks: a beat follows the one before it after 30 s at the earliest. */
export interface ScheduleWoken {
  at: string;
}

/**
 * An item as the model got it: exactly its text, how many tokens that takes, and why where it could not be read.
 *
 * `hash` is that of the cell's source, where the text holds all of it: the model may change that cell as it is then;
 * of what memory had to say it is the passage's, which is sent again once it has been changed.
 */
export interface SentItem {
  type: "notebook" | "cell" | "file" | "selection" | "variable" | "error" | "memory";
  path: string;
  cellId?: string | null;
  name?: string | null;
  startLine?: number | null;
  endLine?: number | null;
  label?: string | null;
  text?: string | null;
  tokens: number;
  hash?: string | null;
  problem?: string | null;
}

/** What the server's administrator allows at most; `providers` is missing where all are allowed. */
export interface ServerCeiling {
  deny: Array<string>;
  modes: Array<"ask" | "agent" | "auto">;
  providers?: Array<string> | null;
  allowAlways: boolean;
}

export interface SessionCreated {
  sessionKey: string;
}

export interface SessionDetail {
  session: SessionInfo;
  messages: Array<Entry>;
}

/**
 * Metadata of one session; `match` in a list that was searched, where what was said in it answers.
 *
 * `activity`, `model`, `tool_mode`, `match` and `origin` (who sent the first message) go beyond the published table,
 * which stays as it is.
 */
export interface SessionInfo {
  sessionKey: string;
  agentId: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  messageCount: number;
  tokenCount: number;
  lastMessagePreview: string;
  status: "active" | "archived";
  activity?: "idle" | "running" | "waiting";
  model?: string | null;
  toolMode?: "cell" | "tools" | null;
  match?: SessionMatch | null;
  origin?: "sidebar" | "cell" | "session" | "job" | "heartbeat" | "key" | "channel" | "run";
}

/**
 * `note` says what kept a search from being better.
 *
 * `isWhole` is false where there was no time to look through all that was said: another search may find more.
 */
export interface SessionList {
  sessions: Array<SessionInfo>;
  total: number;
  note?: string | null;
  isWhole?: boolean;
}

/** The turn in which a search found something. */
export interface SessionMatch {
  entryId: string;
  role: "user" | "assistant";
  at: string;
  snippet: string;
}

export interface SessionParams {
  sessionKey: string;
}

/** The session's metadata after a change; `seq` counts like any other event of the session. */
export interface SessionUpdatedData {
  sessionKey: string;
  agentId: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  messageCount: number;
  tokenCount: number;
  lastMessagePreview: string;
  status: "active" | "archived";
  activity?: "idle" | "running" | "waiting";
  model?: string | null;
  toolMode?: "cell" | "tools" | null;
  match?: SessionMatch | null;
  origin?: "sidebar" | "cell" | "session" | "job" | "heartbeat" | "key" | "channel" | "run";
  seq?: number | null;
}

export interface SessionsCreateParams {
  agentId?: string | null;
  title?: string | null;
  model?: string | null;
}

/** The best first; `note` says what kept the search from being better. */
export interface SessionsFound {
  results: Array<SessionsSearchResult>;
  note?: string | null;
}

/** `unattended`: also those of which the first message came from a job or a heartbeat. */
export interface SessionsListParams {
  agentId?: string | null;
  status?: "active" | "archived" | null;
  query?: string | null;
  limit?: number;
  offset?: number;
  unattended?: boolean;
}

/** What was said, by words and by meaning; in the sessions of all agents where `agentId` is not set. */
export interface SessionsSearchParams {
  query: string;
  agentId?: string | null;
  limit?: number;
}

export interface SessionsSearchResult {
  entryId: string;
  role: "user" | "assistant";
  at: string;
  snippet: string;
  sessionKey: string;
  title: string;
  score: number;
}

export interface SessionsSubscribeParams {
  sessionKey: string;
  afterSeq?: number | null;
}

/** `value` null removes the key. */
export interface SettingEdit {
  key: string;
  value: string | boolean | number | number | null;
}

/** `value` is the one in force, null if the default applies. */
export interface SettingValue {
  key: string;
  value?: string | boolean | number | number | null;
  /** the environment variable that sets it */
  lockedBy?: string | null;
}

export interface SettingsInfo {
  file: string;
  /** of the file's text; a change names the version that it is based on */
  version: string;
  values: Array<SettingValue>;
  problems: Array<SettingsProblem>;
}

/** `error`: the value is not in force. `warning`: it has no effect. `notice`: it works, and should be elsewhere. */
export interface SettingsProblem {
  severity: "error" | "warning" | "notice";
  message: string;
  key?: string | null;
  line?: number | null;
}

/** With a `conflict` (a unified diff of what changed in the file meanwhile) nothing was written. */
export interface SettingsSaved {
  settings: SettingsInfo;
  conflict?: string | null;
}

export interface SettingsSetParams {
  version: string;
  edits: Array<SettingEdit>;
}

/** The configuration in force has changed: read the settings again. */
export interface SettingsUpdatedData {
}

/** To be entered on the page at `verification_uri` within the time. */
export interface SignInCode {
  userCode: string;
  verificationUri: string;
  expiresInS: number;
}

/** `skills.question_closed` says how it ended, and may come before this. */
export interface SkillAsked {
  questionId: string;
}

/** The executed notebook, nbformat 4. */
export interface SkillCopy {
  run: SkillRunInfo;
  notebook: Record<string, unknown>;
}

/** `diff` (unified) leads from the version that was trusted last to this one; None where there is no former one. */
export interface SkillDetail {
  skill: SkillInfo;
  /** everything that runs or instructs, which would be trusted */
  text: string;
  /** Markdown: the SKILL.md's body, or the notebook's Markdown cells */
  instructions: string;
  diff?: string | null;
}

/** One parameter, in the order of the cell. `path` is a text that names a file; `union` and `any` take any JSON. */
export interface SkillField {
  name: string;
  type: "integer" | "number" | "string" | "boolean" | "array" | "object" | "choice" | "path" | "union" | "any";
  required: boolean;
  nullable?: boolean;
  /** type of a list's items or an object's values */
  itemType?: string | null;
  choices?: Array<string | number | boolean> | null;
  hasDefault?: boolean;
  default?: unknown;
  /** as written in the cell, even if the value is known only when it runs */
  defaultText?: string;
  description?: string;
}

/** `reason` says why it is not ready. `path` is what the file browser opens; None where it cannot. */
export interface SkillInfo {
  /** id of this file; a shadowed skill shares its name with another */
  id: string;
  name: string;
  /** a tool is a Python file with tools for agents */
  kind: "notebook" | "text" | "tool";
  description: string;
  source: "project" | "workspace" | "home" | "packaged";
  path?: string | null;
  /** the file's full path, for display */
  location: string;
  state: "ready" | "untrusted" | "missing" | "broken" | "shadowed";
  reason?: string | null;
  trusted: boolean;
  /** an earlier version was trusted */
  changed: boolean;
  /** identifies this version, for `skills.trust` */
  hash: string;
  /** the agent's tool that runs it */
  tool?: string | null;
  kernel?: string | null;
  requires: SkillRequires;
  parameters?: SkillParameters | null;
  /** next to SKILL.md */
  files?: Array<string>;
}

export interface SkillList {
  skills: Array<SkillInfo>;
  /** how many more are not listed */
  leftOut?: number;
}

/** `freeForm` says why the parameters are not known; every name and JSON value can be given then. */
export interface SkillParameters {
  jsonSchema: Record<string, unknown>;
  fields: Array<SkillField>;
  freeForm?: string | null;
}

/** `id` picks the very file where a shadowed or broken one is meant. */
export interface SkillParams {
  name: string;
  agentId?: string | null;
  id?: string | null;
}

/** `index` of `total` code cells, from 1; `cell` is its heading or first line, `line` its last line of output. */
export interface SkillProgress {
  index: number;
  total: number;
  cell: string;
  line?: string;
}

/** What *Save as skill* begins with; `parameters` is the source of a parameters cell, `problem` why it is empty. */
export interface SkillProposal {
  name: string;
  description: string;
  parameters: string;
  fields: Array<SkillField>;
  kernel?: string | null;
  problem?: string | null;
}

/** Nothing more where it is over, or never was. `detail` is the skill as it is on disk now. */
export interface SkillQuestion {
  open: boolean;
  expiresAt?: string | null;
  detail?: SkillDetail | null;
}

/** `reason` says why a skill is `unusable`. */
export interface SkillQuestionClosedData {
  questionId: string;
  outcome: "trusted" | "declined" | "expired" | "gone" | "unusable";
  reason?: string | null;
}

export interface SkillQuestionParams {
  questionId: string;
}

/** Programs, environment variables and Python packages. */
export interface SkillRequires {
  bins: Array<string>;
  env: Array<string>;
  python: Array<string>;
}

/** `outputs` are nbformat 4 outputs of the cells tagged `result`, else of the last cell that has any. */
export interface SkillResult {
  run: SkillRunInfo;
  outputs: Array<Record<string, unknown>>;
  /** the same as the agent gets it */
  text: string;
}

/** One run, under way or over. `stopped` by a person, `interrupted` with the server. */
export interface SkillRunInfo {
  runId: string;
  skill: string;
  status: "running" | "ok" | "failed" | "stopped" | "timeout" | "interrupted";
  parameters: Record<string, unknown>;
  startedAt: string;
  finishedAt?: string | null;
  /** the person, or `agent:` and the agent's id */
  by: string;
  error?: string | null;
  progress?: SkillProgress | null;
  /** path of the executed notebook, as JupyterLab opens it */
  copyPath?: string | null;
  /** the executed notebook's full path; `skills.copy` returns its content */
  copyLocation: string;
  hash: string;
  kernel?: string | null;
  /** versions of Python and of the required packages */
  versions?: Record<string, string>;
}

export interface SkillRunList {
  runs: Array<SkillRunInfo>;
}

export interface SkillRunParams {
  runId: string;
}

export interface SkillRunProgressData {
  index: number;
  total: number;
  cell: string;
  line?: string;
  runId: string;
  skill: string;
}

export interface SkillRunStarted {
  runId: string;
}

export interface SkillTrusted {
  skill: SkillInfo;
}

export interface SkillsAnswerParams {
  questionId: string;
  /** hash of the version shown, to trust it; omitted: declined */
  hash?: string | null;
}

/** From the connection of the cell that waits: the question ends with it. */
export interface SkillsAskParams {
  name: string;
  agentId?: string | null;
}

export interface SkillsListParams {
  agentId?: string | null;
}

export interface SkillsProposeParams {
  path: string;
}

/** `path` is a notebook or folder in the file browser, in whose folder it runs; the server's root where absent. */
export interface SkillsRunParams {
  name: string;
  parameters?: Record<string, unknown>;
  path?: string | null;
  agentId?: string | null;
}

export interface SkillsRunsParams {
  name?: string | null;
  limit?: number;
}

/** `parameters` is the parameters cell's source, empty for none. An existing skill is replaced with `overwrite`. */
export interface SkillsSaveParams {
  path: string;
  name: string;
  description: string;
  parameters?: string;
  place?: "workspace" | "home" | "project";
  overwrite?: boolean;
  agentId?: string | null;
}

export interface SkillsTrustParams {
  name: string;
  agentId?: string | null;
  id?: string | null;
  /** hash of the version shown; refused if it has changed since */
  hash: string;
}

/** Skills came, went, changed or are trusted: ask for the list again. */
export interface SkillsUpdatedData {
}

export interface Subscribed {
  seq: number;
}

/** The sign-in to a provider. `kind` `device`: here, with a code; `program`: in the provider's own program. */
export interface Subscription {
  kind: "device" | "program";
  state: "signed_out" | "pending" | "signed_in" | "denied" | "expired" | "failed" | "not_installed";
  /** who is signed in, if known */
  account?: string | null;
  /** why it failed, or what to do */
  message?: string | null;
  code?: SignInCode | null;
  /** providers.<name>.clientId has to be set first */
  needsClientId?: boolean | null;
}

export interface SubscriptionParams {
  /** the provider's name */
  name: string;
}

/** The sign-in to a provider has changed. */
export interface SubscriptionsUpdatedData {
  name: string;
  state: "signed_out" | "pending" | "signed_in" | "denied" | "expired" | "failed";
  message?: string | null;
}

/** A call that the model made; `malformed` is what it sent where that was no JSON object. */
export interface ToolCallEntry {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  malformed?: string | null;
}

/** A piece of the cell that the model is writing; the call or the words that come next take its place. */
export interface ToolDraftData {
  runId: string;
  seq: number;
  text: string;
  /** what was sent so far is discarded */
  begins?: boolean | null;
}

export interface ToolFinishedData {
  runId: string;
  sessionKey: string;
  seq: number;
  callId: string;
  tool: string;
  ok: boolean;
  output: string;
  attachments?: Array<AttachmentInfo> | null;
  status?: "ok" | "failed" | "denied" | "skipped" | "aborted" | "interrupted" | null;
  /** unless ok; a call that never started had no tool.started */
  input?: Record<string, unknown> | null;
  /** the cells, paths … that the result is about */
  data?: Record<string, unknown> | null;
  /** what was done, if it has a label of its own */
  label?: LabelInfo | null;
  /** unless ok: why */
  failure?: FailureInfo | null;
}

export interface ToolProgressData {
  runId: string;
  sessionKey: string;
  seq: number;
  callId: string;
  tool: string;
  message: string;
}

export interface ToolStartedData {
  runId: string;
  sessionKey: string;
  seq: number;
  callId: string;
  tool: string;
  input: Record<string, unknown>;
  /** omitted if only the tool's name is known */
  activity?: LabelInfo | null;
}

/**
 * What a turn did to notebooks.
 *
 * `ran` counts cells that were only run, `pending` those that wait for a word, `standing` those that can be undone.
 */
export interface TurnInfo {
  runId: string;
  cells: number;
  ran: number;
  pending: number;
  standing: number;
  notebooks: Array<TurnNotebook>;
  created: Array<string>;
  undone: boolean;
}

/** `cells` counts those that were added, edited, moved or deleted there. */
export interface TurnNotebook {
  path: string;
  cells: number;
}

/**
 * `used` and `limit` are dollars or tokens, by the name. `resets_at` is null for a conversation's limit.
 *
 * `unpriced_calls` may have cost something that is not part of `used`.
 */
export interface UsageBudget {
  name: "dayUsd" | "sessionUsd" | "dayTokens" | "sessionTokens";
  limit: number;
  used: number;
  percent: number;
  resetsAt?: string | null;
  unpricedCalls: number;
}

/** What one model used in one role, over all the days. */
export interface UsageCell {
  role: string;
  model: string;
  total: UsageSum;
}

export interface UsageChangedData {
}

/** `day` is an ISO date, in the user's time zone. */
export interface UsageDay {
  day: string;
  total: UsageSum;
}

/** With `sessionKey`, also that conversation's total and its newest turns. */
export interface UsageGetParams {
  days?: number;
  sessionKey?: string | null;
}

/**
 * `cost_usd` is null if no price is known; `plan`: a subscription paid for some of it.
 *
 * `cost_is_partial`: the cost leaves out calls without a known price. `estimated`: some figures are not the
 * provider's, since it gave none or the answer ended early.
 */
export interface UsageInfo {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number | null;
  costUsd?: number | null;
  reasoningTokens?: number | null;
  plan?: boolean | null;
  costIsPartial?: boolean | null;
  estimated?: boolean | null;
}

/** `days` are those with calls, oldest first; `today` is an ISO date. */
export interface UsageReport {
  today: string;
  days: Array<UsageDay>;
  cells: Array<UsageCell>;
  session?: UsageSession | null;
  budget: Array<UsageBudget>;
}

/** One conversation; `turns` are the newest, in order. */
export interface UsageSession {
  total: UsageSum;
  turns: Array<UsageTurn>;
}

/** One model call. */
export interface UsageStep {
  at: string;
  role: string;
  model: string;
  total: UsageSum;
}

/**
 * Cached tokens are part of the input, reasoning tokens of the output.
 *
 * `cost_usd` adds the known prices; `unpriced_calls` may have cost more. A subscription paid for `plan_calls`, and
 * `free_calls` were answered by models on this machine. Of `estimated_calls` the provider gave no figures, or not all.
 */
export interface UsageSum {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  reasoningTokens: number;
  costUsd: number;
  unpricedCalls: number;
  planCalls: number;
  freeCalls: number;
  estimatedCalls: number;
}

/** One run with all its model calls. */
export interface UsageTurn {
  runId: string;
  total: UsageSum;
  steps: Array<UsageStep>;
}

/** Every method with its parameters and its result. */
export interface Methods {
  "health.check": { params: NoParams; result: Health };
  "agents.list": { params: NoParams; result: Agents };
  "models.list": { params: ModelsListParams; result: ModelList };
  "providers.list": { params: ProvidersListParams; result: ProviderList };
  "providers.test": { params: ProvidersTestParams; result: ProviderTest };
  "credentials.set": { params: CredentialsSetParams; result: Ok };
  "credentials.move": { params: CredentialParams; result: Ok };
  "credentials.remove": { params: CredentialParams; result: Ok };
  "credentials.rotate": { params: NoParams; result: Ok };
  "subscriptions.begin": { params: SubscriptionParams; result: SignInCode };
  "subscriptions.cancel": { params: SubscriptionParams; result: Ok };
  "subscriptions.signOut": { params: SubscriptionParams; result: Ok };
  "settings.get": { params: NoParams; result: SettingsInfo };
  "settings.set": { params: SettingsSetParams; result: SettingsSaved };
  "local_models.list": { params: NoParams; result: LocalModelList };
  "local_models.fetch": { params: LocalModelParams; result: LocalModelInfo };
  "local_models.pause": { params: LocalModelParams; result: LocalModelInfo };
  "local_models.remove": { params: LocalModelsRemoveParams; result: LocalModelInfo };
  "acp.agents": { params: NoParams; result: AcpAgentList };
  "acp.options": { params: AcpSessionParams; result: AcpOptions };
  "acp.setOption": { params: AcpSetOptionParams; result: AcpOptions };
  "sessions.create": { params: SessionsCreateParams; result: SessionCreated };
  "sessions.list": { params: SessionsListParams; result: SessionList };
  "sessions.search": { params: SessionsSearchParams; result: SessionsFound };
  "sessions.get": { params: SessionParams; result: SessionDetail };
  "sessions.subscribe": { params: SessionsSubscribeParams; result: Subscribed };
  "chat.send": { params: ChatSendParams; result: ChatSent };
  "chat.composing": { params: ChatComposingParams; result: Ok };
  "chat.history": { params: ChatHistoryParams; result: ChatHistory };
  "chat.abort": { params: ChatAbortParams; result: Ok };
  "context.preview": { params: ContextPreviewParams; result: ContextPreview };
  "exec.approve": { params: ExecApproveParams; result: Ok };
  "exec.deny": { params: ExecDenyParams; result: Ok };
  "approvals.list": { params: ApprovalsListParams; result: ApprovalList };
  "grants.list": { params: NoParams; result: GrantList };
  "grants.revoke": { params: GrantsRevokeParams; result: Ok };
  "questions.answer": { params: QuestionsAnswerParams; result: Ok };
  "questions.list": { params: QuestionsListParams; result: QuestionList };
  "skills.list": { params: SkillsListParams; result: SkillList };
  "skills.get": { params: SkillParams; result: SkillDetail };
  "skills.trust": { params: SkillsTrustParams; result: SkillTrusted };
  "skills.run": { params: SkillsRunParams; result: SkillRunStarted };
  "skills.stop": { params: SkillRunParams; result: Ok };
  "skills.runs": { params: SkillsRunsParams; result: SkillRunList };
  "skills.result": { params: SkillRunParams; result: SkillResult };
  "skills.copy": { params: SkillRunParams; result: SkillCopy };
  "skills.propose": { params: SkillsProposeParams; result: SkillProposal };
  "skills.save": { params: SkillsSaveParams; result: SkillTrusted };
  "skills.ask": { params: SkillsAskParams; result: SkillAsked };
  "skills.question": { params: SkillQuestionParams; result: SkillQuestion };
  "skills.answer": { params: SkillsAnswerParams; result: Ok };
  "project.files": { params: NoParams; result: ProjectFiles };
  "project.trust": { params: ProjectDecisionParams; result: Ok };
  "project.decline": { params: ProjectDecisionParams; result: Ok };
  "client.update": { params: ClientUpdateParams; result: Ok };
  "client.respond": { params: ClientRespondParams; result: Ok };
  "client.shows": { params: ClientShowsParams; result: ClientShows };
  "notebook.changes": { params: NotebookChangesParams; result: NotebookChanges };
  "notebook.accept": { params: NotebookMarksParams; result: NotebookAccepted };
  "notebook.reject": { params: NotebookMarksParams; result: NotebookReverted };
  "notebook.undo": { params: NotebookTurnParams; result: NotebookReverted };
  "notebook.put_back": { params: NotebookTurnParams; result: NotebookReverted };
  "kernel.variables": { params: KernelVariablesParams; result: KernelVariableList };
  "memory.search": { params: MemorySearchParams; result: MemoryResults };
  "memory.files": { params: MemoryFilesParams; result: MemoryFileList };
  "memory.read": { params: MemoryReadParams; result: MemoryText };
  "memory.versions": { params: MemoryVersionsParams; result: MemoryVersions };
  "memory.diff": { params: MemoryDiffParams; result: MemoryDiff };
  "memory.restore": { params: MemoryRestoreParams; result: MemoryRestored };
  "memory.undo": { params: MemoryUndoParams; result: MemoryAnswer };
  "memory.accept": { params: MemoryAcceptParams; result: MemoryAnswer };
  "memory.status": { params: NoParams; result: MemoryStatus };
  "knowledge.add": { params: KnowledgeAddParams; result: KnowledgeItemInfo };
  "knowledge.list": { params: NoParams; result: KnowledgeList };
  "knowledge.refresh": { params: KnowledgeRefreshParams; result: KnowledgeList };
  "knowledge.stop": { params: KnowledgeItemParams; result: KnowledgeItemInfo };
  "knowledge.remove": { params: KnowledgeItemParams; result: Ok };
  "knowledge.restore": { params: KnowledgeItemParams; result: KnowledgeItemInfo };
  "knowledge.search": { params: KnowledgeSearchParams; result: KnowledgeResults };
  "schedule.list": { params: ScheduleListParams; result: ScheduleList };
  "schedule.preview": { params: SchedulePreviewParams; result: SchedulePreview };
  "schedule.get": { params: ScheduleJobParams; result: ScheduleJob };
  "schedule.create": { params: ScheduleCreateParams; result: ScheduleJob };
  "schedule.update": { params: ScheduleUpdateParams; result: ScheduleJob };
  "schedule.cancel": { params: ScheduleJobParams; result: Ok };
  "schedule.runNow": { params: ScheduleJobParams; result: ScheduleStarted };
  "schedule.history": { params: ScheduleHistoryParams; result: ScheduleHistory };
  "schedule.heartbeats": { params: HeartbeatsParams; result: Heartbeats };
  "schedule.heartbeatStates": { params: NoParams; result: HeartbeatStates };
  "schedule.wake": { params: ScheduleWakeParams; result: ScheduleWoken };
  "usage.get": { params: UsageGetParams; result: UsageReport };
  "onboarding.state": { params: OnboardingParams; result: OnboardingState };
  "onboarding.answer": { params: OnboardingAnswerParams; result: OnboardingState };
  "onboarding.skip": { params: OnboardingSkipParams; result: OnboardingState };
  "onboarding.back": { params: OnboardingParams; result: OnboardingState };
  "onboarding.phrase": { params: OnboardingPhraseParams; result: OnboardingPhrased };
  "onboarding.preview": { params: OnboardingParams; result: OnboardingPreview };
  "onboarding.write": { params: OnboardingWriteParams; result: OnboardingWritten };
}

/** Every event with its data. */
export interface Events {
  "providers.updated": ProvidersUpdatedData;
  "subscriptions.updated": SubscriptionsUpdatedData;
  "settings.updated": SettingsUpdatedData;
  "local_models.progress": LocalModelInfo;
  "acp.updated": AcpUpdatedData;
  "chat.started": ChatStartedData;
  "chat.delta": ChatDeltaData;
  "chat.thought": ChatThoughtData;
  "tool.draft": ToolDraftData;
  "tool.started": ToolStartedData;
  "tool.progress": ToolProgressData;
  "tool.finished": ToolFinishedData;
  "chat.note": ChatNoteData;
  "chat.steered": ChatSteeredData;
  "chat.joined": ChatJoinedData;
  "chat.final": ChatFinalData;
  "chat.error": ChatErrorData;
  "chat.aborted": ChatAbortedData;
  "session.updated": SessionUpdatedData;
  "exec.approval_request": ApprovalInfo;
  "exec.approval_resolved": ApprovalResolvedData;
  "grants.updated": GrantsUpdatedData;
  "chat.question": QuestionInfo;
  "chat.question_resolved": QuestionResolvedData;
  "skills.updated": SkillsUpdatedData;
  "skills.question_closed": SkillQuestionClosedData;
  "skills.run_started": SkillRunInfo;
  "skills.run_progress": SkillRunProgressData;
  "skills.run_finished": SkillRunInfo;
  "project.updated": ProjectUpdatedData;
  "client.request": ClientRequest;
  "notebook.changes_updated": NotebookChangesUpdatedData;
  "memory.updated": MemoryUpdatedData;
  "knowledge.progress": KnowledgeItemInfo;
  "knowledge.updated": KnowledgeUpdatedData;
  "schedule.updated": ScheduleUpdatedData;
  "schedule.finished": ScheduleFinishedData;
  "schedule.heartbeat": ScheduleHeartbeatData;
  "usage.changed": UsageChangedData;
  "onboarding.updated": OnboardingUpdatedData;
}
