/**
 * One session as this tab sees it: its conversation, kept current by events, and the user's actions. The
 * server's transcript is the source of truth, and is read again when in doubt.
 */
import { type ISignal, Signal } from '@lumino/signaling';

import { RequestError } from '../../protocol/frames';
import type { SessionEvent, SessionEvents } from '../../protocol/session_events';
import type { ConnectionState, SocketClient } from '../../protocol/socket_client';
import type { ContextItem, SessionInfo } from '../../protocol/wire';
import {
  isRequestOf,
  findRun,
  isActive,
  isRun,
  messagesOf,
  newRun,
  placeRun,
  replaceItem
} from './conversation';
import type { Conversation, Item, Problem, Run, UserMessage, WhenBusy } from './conversation';
import { STANDARD_MODE } from '../composer/mode';
import type { Mode } from '../composer/mode';
import { Outbox } from './outbox';
import type { Arrived } from './outbox';
import { LiveConversation } from './live_conversation';
import { noteScope } from './run_events';
import type { Manner } from '../composer/model_choice';
import { fromEntries } from './transcript';
import { ViewModel } from '../../shared/view_model';

export interface SessionServices {
  client: SocketClient;
  events: SessionEvents;
  /** Calls back before the next frame; the result cancels it. */
  onFrame: (callback: () => void) => () => void;
  nowMs: () => number;
}

/** Those of a page. */
export function pageServices({
  client,
  events
}: Pick<SessionServices, 'client' | 'events'>): SessionServices {
  return {
    ...{ client, events, nowMs: () => Date.now() },
    onFrame: callback => {
      const frame = requestAnimationFrame(callback);
      return () => cancelAnimationFrame(frame);
    }
  };
}

/** So frequent that they are shown once per frame. */
const STREAMED = new Set(['chat.delta', 'chat.thought', 'tool.draft']);

export type ApprovalScope = 'once' | 'session' | 'always';

/** `new`: nothing on the server yet. `failed`: it could not be read, `problem` says why. */
type Phase = 'new' | 'loading' | 'ready' | 'failed';

export class Session extends ViewModel {
  constructor(
    private readonly services: SessionServices,
    key: string | null = null
  ) {
    super();
    this._key = key;
    this._live = new LiveConversation(services.nowMs, {
      started: runId => void this._adopt(runId),
      outOfStep: () => void this.reload()
    });
    this._outbox = new Outbox(services.client, {
      items: () => this._live.items,
      isOver: () => this.isDisposed,
      sessionKey: model => this._create(model),
      update: (key, change) => this._update(key, change),
      arrived: (key, arrived) => this._onArrived(key, arrived)
    });
    services.events.event.connect(this._onEvent, this);
    services.events.broken.connect(this._onBroken, this);
    services.client.stateChanged.connect(this._onConnection, this);
    if (key !== null) {
      this._phase = 'loading';
      void this.reload();
    }
  }

  /** The server gave this session its key. */
  get created(): ISignal<this, string> {
    return this._created;
  }

  get key(): string | null {
    return this._key;
  }

  get phase(): Phase {
    return this._phase;
  }

  get problem(): Problem | null {
    return this._problem;
  }

  /** The session no longer exists on the server: nothing can be sent to it. */
  get isGone(): boolean {
    return this._phase === 'failed' && this._problem?.code === 'not_found';
  }

  get info(): SessionInfo | null {
    return this._live.info;
  }

  /** Immutable: a new object whenever something changes. */
  get items(): Conversation {
    return this._live.items;
  }

  get isRunning(): boolean {
    return this._live.items.some(isActive);
  }

  /** Reads everything from the server; the current contents stay until the answer arrives. */
  async reload(): Promise<void> {
    const sessionKey = this._key;
    if (sessionKey === null) {
      return;
    }
    const { client, events } = this.services;
    this._isStale = true;
    const isNewest = this._live.startReading();
    const isCurrent = () => !this.isDisposed && isNewest();
    try {
      await events.follow(sessionKey);
      const { session, messages } = await client.request('sessions.get', { sessionKey });
      const { approvals } = await client.request('approvals.list', { sessionKey });
      const { questions } = await client.request('questions.list', { sessionKey });
      if (!isCurrent()) {
        return;
      }
      const waiting = new Set([...approvals, ...questions].map(open => open.runId));
      this._live.restore(session, messages, waiting);
      for (const approval of approvals) {
        this._live.apply({ event: 'exec.approval_request', data: approval });
      }
      for (const question of questions) {
        this._live.apply({ event: 'chat.question', data: question });
      }
      this._phase = 'ready';
      this._isStale = false;
      this._problem = null;
    } catch (error) {
      if (!isCurrent()) {
        return;
      }
      this._live.stopReading();
      this._phase = error instanceof RequestError ? 'failed' : this._phase;
      this._problem =
        error instanceof RequestError
          ? { code: error.reason ?? String(error.code), message: error.message }
          : null;
    }
    this.emit();
  }

  /** Sends a message. Without a connection it waits, in order, until there is one. */
  send(
    text: string,
    context: readonly ContextItem[] = [],
    model?: string,
    whenBusy?: WhenBusy,
    mode?: Mode,
    manner: Manner = {}
  ): void {
    const message: UserMessage = {
      kind: 'user',
      key: `local-${++this._lastLocal}`,
      text,
      context,
      delivery: this.services.client.state === 'open' ? 'sending' : 'waiting',
      whenBusy,
      mode: mode === STANDARD_MODE ? undefined : mode,
      ...manner
    };
    this._outbox.add(message, model);
    this._live.items = [...this._live.items, message];
    this.emit();
    this._outbox.deliver();
  }

  /** Sends the message of a failed run again. */
  retry(run: Run, model?: string, manner?: Manner): void {
    const asked = this._live.items.find(item => isRequestOf(item, run.runId));
    if (asked?.kind === 'user') {
      this.send(asked.text, asked.context, model, undefined, asked.mode, manner);
    }
  }

  /** Sends a message again that the server refused. */
  resend = (message: UserMessage): void => {
    this._update(message.key, { delivery: 'waiting', problem: undefined });
    this._outbox.deliver();
  };

  /** Takes back a message that has not been sent yet. */
  withdraw = (message: UserMessage): void => {
    if (message.delivery === 'waiting' || message.delivery === 'failed') {
      this._remove(message.key);
    }
  };

  /** Stops every run of this session; the server reports when each has ended. */
  async abort(): Promise<void> {
    const active = this._live.items.filter(isRun).filter(isActive);
    await Promise.all(active.map(run => this.services.client.request('chat.abort', { runId: run.runId })));
  }

  /** Answers a question from the agent; null declines. */
  answer = async (questionId: string, answer: string | null): Promise<void> => {
    await this.services.client.request('questions.answer', { questionId, answer });
  };

  approve = async (approvalId: string, scope: ApprovalScope, version: string): Promise<void> => {
    await this.services.client.request('exec.approve', { approvalId, scope, version });
    this._live.items = noteScope(this._live.items, approvalId, scope);
  };

  deny = async (approvalId: string, reason: string): Promise<void> => {
    await this.services.client.request('exec.deny', { approvalId, reason: reason || null });
  };

  override dispose(): void {
    this._cancelFrame?.();
    super.dispose();
  }

  private _onEvent(_: SessionEvents, { sessionKey, frame }: SessionEvent): void {
    if (sessionKey !== this._key || !this._live.receive(frame)) {
      return;
    }
    if (STREAMED.has(frame.event)) {
      this._cancelFrame ??= this.services.onFrame(() => {
        this._cancelFrame = null;
        this._live.flushText();
        this.emit();
      });
    } else {
      this.emit();
    }
    if (frame.event === 'chat.aborted') {
      // Only the transcript says which call was stopped and what it has cost so far.
      void this.reload();
    }
  }

  /** A run that another tab started: finds the message behind it. */
  private async _adopt(runId: string): Promise<void> {
    const knows = () => this._live.items.some(item => isRequestOf(item, runId));
    await this._outbox.delivered;
    if (knows() || this._key === null) {
      return;
    }
    try {
      const { messages } = await this.services.client.request('chat.history', {
        sessionKey: this._key,
        limit: 50
      });
      const asked = fromEntries(messages).find(item => isRequestOf(item, runId));
      const run = findRun(this._live.items, runId);
      if (asked && run && !knows() && !this.isDisposed) {
        this._live.items = this._live.items.flatMap(item => (item === run ? [asked, run] : [item]));
        this.emit();
      }
    } catch {
      // The run itself is shown; its message appears with the next reading.
    }
  }

  private _onBroken(_: SessionEvents, sessionKey: string): void {
    if (sessionKey === this._key) {
      void this.reload();
    }
  }

  private _onConnection(_: SocketClient, state: ConnectionState): void {
    if (state !== 'open') {
      return;
    }
    if (this._key !== null && (this._phase !== 'ready' || this._isStale)) {
      void this.reload();
    }
    this._outbox.deliver();
  }

  /** The server has received a message of this tab. */
  private _onArrived(key: string, { runId, steers, id, context }: Arrived): void {
    const isShown = messagesOf(this._live.items).some(
      message =>
        message.key !== key &&
        (id === undefined ? false : message.id === id || (!steers && isRequestOf(message, runId)))
    );
    if (isShown) {
      this._remove(key);
      return;
    }
    const found = { ...(id === undefined ? {} : { id }), ...(context === undefined ? {} : { context }) };
    this._update(key, { delivery: 'sent', runId, steers, ...found });
    if (!steers && !this.isRunning && !findRun(this._live.items, runId)) {
      this._live.items = placeRun(this._live.items, newRun(runId));
      this.emit();
    }
  }

  private async _create(model: string | null): Promise<string> {
    if (this._key !== null) {
      return this._key;
    }
    const { sessionKey } = await this.services.client.request('sessions.create', { model });
    this._key = sessionKey;
    this._phase = 'ready';
    this._created.emit(sessionKey);
    await this.services.events.follow(sessionKey);
    return sessionKey;
  }

  private _remove(key: string): void {
    this._live.items = this._live.items.filter(item => item.key !== key);
    this.emit();
  }

  private _update(key: string, change: Partial<UserMessage>): void {
    this._live.items = replaceItem(this._live.items, key, item => ({ ...item, ...change }) as Item);
    this.emit();
  }

  private readonly _live: LiveConversation;
  private readonly _outbox: Outbox;
  private _key: string | null;
  private _phase: Phase = 'new';
  /** A reading was started and has not succeeded since. */
  private _isStale = false;
  private _problem: Problem | null = null;
  private _lastLocal = 0;
  private _cancelFrame: (() => void) | null = null;
  private readonly _created = new Signal<this, string>(this);
}
