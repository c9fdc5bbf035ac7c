/**
 * One session as this tab sees it: its conversation, kept current by events, and what a person does in it. It draws
 * nothing and keeps nothing on disk; the server's transcript is the truth that it reads again when in doubt.
 */
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { ConnectionLost, RequestError, RequestTimeout } from '../protocol/frames';
import type { EventFrame } from '../protocol/frames';
import type { SessionEvent, SessionEvents } from '../protocol/session_events';
import type { ConnectionState, SocketClient } from '../protocol/socket_client';
import type { ContextItem, Entry, SessionInfo } from '../protocol/wire';
import { findRun, isActive, isRun, newRun, placeRun, replaceItem } from './conversation';
import type { Conversation, Item, Problem, Run, UserMessage } from './conversation';
import { appendText, applyEvent } from './run_events';
import { endAbandoned, fromEntries } from './transcript';

export interface SessionServices {
  client: SocketClient;
  events: SessionEvents;
  /** Call back before the next picture; what is given back calls it off. */
  onFrame: (callback: () => void) => () => void;
  nowMs: () => number;
}

export type ApprovalScope = 'once' | 'session' | 'always';

/** `new`: nothing on the server yet. `failed`: it could not be read, `problem` says why. */
export type Phase = 'new' | 'loading' | 'ready' | 'failed';

export class Session implements IDisposable {
  constructor(
    private readonly services: SessionServices,
    key: string | null = null
  ) {
    this._key = key;
    services.events.event.connect(this._onEvent, this);
    services.events.broken.connect(this._onBroken, this);
    services.client.stateChanged.connect(this._onConnection, this);
    if (key !== null) {
      this._phase = 'loading';
      void this.reload();
    }
  }

  /** Something to be seen has changed; at most once a frame while text streams in. */
  get changed(): ISignal<this, void> {
    return this._changed;
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

  get info(): SessionInfo | null {
    return this._info;
  }

  /** Immutable: another object whenever something changed. */
  get items(): Conversation {
    return this._items;
  }

  get isRunning(): boolean {
    return this._items.some(isActive);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Read everything from the server; what is shown stays until the answer is there. */
  async reload(): Promise<void> {
    const sessionKey = this._key;
    if (sessionKey === null) {
      return;
    }
    const { client, events } = this.services;
    this._isBehind = true;
    const early: EventFrame[] = (this._early = []);
    const isCurrent = () => !this._isDisposed && this._early === early;
    try {
      await events.follow(sessionKey);
      const { session, messages } = await client.request('sessions.get', { sessionKey });
      const { approvals } = await client.request('approvals.list', { sessionKey });
      const { questions } = await client.request('questions.list', { sessionKey });
      if (!isCurrent()) {
        return;
      }
      const waiting = new Set([...approvals, ...questions].map(open => open.runId));
      this._restore(session, messages, early, waiting);
      for (const approval of approvals) {
        this._apply({ event: 'exec.approval_request', data: approval });
      }
      for (const question of questions) {
        this._apply({ event: 'chat.question', data: question });
      }
      this._phase = 'ready';
      this._isBehind = false;
      this._problem = null;
    } catch (error) {
      if (!isCurrent()) {
        return;
      }
      this._early = null;
      this._phase = error instanceof RequestError ? 'failed' : this._phase;
      this._problem =
        error instanceof RequestError ? { code: String(error.code), message: error.message } : null;
    }
    this._emit();
  }

  /** Say something. Without a connection it waits, in order, and goes when there is one. */
  send(text: string, context: readonly ContextItem[] = [], model?: string): void {
    const message: UserMessage = {
      kind: 'user',
      key: `local-${++this._lastLocal}`,
      text,
      context,
      delivery: this.services.client.state === 'open' ? 'sending' : 'waiting'
    };
    this._models.set(message.key, model);
    this._items = [...this._items, message];
    this._emit();
    this._deliverAll();
  }

  /** Say again what a run failed on. */
  retry(run: Run, model?: string): void {
    const asked = this._items.find((item): item is UserMessage => !isRun(item) && item.runId === run.runId);
    if (asked) {
      this.send(asked.text, asked.context, model);
    }
  }

  /** Try a message again that the server refused. */
  resend(message: UserMessage): void {
    this._update(message.key, { delivery: 'waiting', problem: undefined });
    this._deliverAll();
  }

  /** Take a message back that has not left yet. */
  withdraw(message: UserMessage): void {
    if (message.delivery === 'waiting' || message.delivery === 'failed') {
      this._items = this._items.filter(item => item.key !== message.key);
      this._emit();
    }
  }

  /** Stop every run of this session; the server says when each has ended. */
  async abort(): Promise<void> {
    const active = this._items.filter(isRun).filter(isActive);
    await Promise.all(active.map(run => this.services.client.request('chat.abort', { runId: run.runId })));
  }

  /** Answer a question of the agent; null declines to. */
  async answer(questionId: string, answer: string | null): Promise<void> {
    await this.services.client.request('questions.answer', { questionId, answer });
  }

  async approve(approvalId: string, scope: ApprovalScope): Promise<void> {
    await this.services.client.request('exec.approve', { approvalId, scope });
  }

  async deny(approvalId: string, reason: string): Promise<void> {
    await this.services.client.request('exec.deny', { approvalId, reason: reason || null });
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._cancelFrame?.();
    Signal.clearData(this);
  }

  private _restore(info: SessionInfo, entries: Entry[], early: EventFrame[], waiting: Set<string>): void {
    const replayed = new Set(
      early.flatMap(frame => (frame.event === 'chat.started' ? [frame.data.runId] : []))
    );
    const undelivered = this._items.filter(item => item.kind === 'user' && item.delivery !== 'sent');
    const running = info.activity === 'running' || info.activity === 'waiting';
    const stored = endAbandoned(fromEntries(entries, replayed), runId => running || waiting.has(runId));
    this._info = info;
    this._early = null;
    this._text.clear();
    this._items = [...stored, ...undelivered];
    early.forEach(frame => this._apply(frame));
    this._flushText();
  }

  private _onEvent(_: SessionEvents, { sessionKey, frame }: SessionEvent): void {
    if (sessionKey !== this._key) {
      return;
    }
    if (this._early) {
      this._early.push(frame);
      return;
    }
    if (frame.event === 'chat.delta') {
      this._apply(frame);
      this._cancelFrame ??= this.services.onFrame(() => {
        this._cancelFrame = null;
        this._flushText();
        this._emit();
      });
    } else {
      this._apply(frame);
      this._emit();
    }
    if (frame.event === 'chat.aborted') {
      // Which call was stopped and what it cost so far stand in the transcript only.
      void this.reload();
    }
  }

  private _apply(frame: EventFrame): void {
    if (frame.event === 'chat.delta') {
      const { runId, text } = frame.data;
      if (!findRun(this._items, runId) && !this._text.has(runId)) {
        void this.reload();
        return;
      }
      this._text.set(runId, (this._text.get(runId) ?? '') + text);
      return;
    }
    if (frame.event === 'session.updated') {
      this._info = frame.data;
      return;
    }
    this._flushText();
    this._items = applyEvent(this._items, frame, this.services.nowMs());
    if (frame.event === 'chat.started') {
      void this._adopt(frame.data.runId);
    }
  }

  private _flushText(): void {
    for (const [runId, text] of this._text) {
      this._items = appendText(this._items, runId, text);
    }
    this._text.clear();
  }

  /** A run that another tab asked for: find what was asked. */
  private async _adopt(runId: string): Promise<void> {
    const knows = () => this._items.some(item => !isRun(item) && item.runId === runId);
    await this._delivering;
    if (knows() || this._key === null) {
      return;
    }
    try {
      const { messages } = await this.services.client.request('chat.history', {
        sessionKey: this._key,
        limit: 50
      });
      const asked = fromEntries(messages).find(item => !isRun(item) && item.runId === runId);
      const run = findRun(this._items, runId);
      if (asked && run && !knows() && !this._isDisposed) {
        this._items = this._items.flatMap(item => (item === run ? [asked, run] : [item]));
        this._emit();
      }
    } catch {
      // The run itself is shown; what was asked comes with the next reading.
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
    if (this._key !== null && (this._phase !== 'ready' || this._isBehind)) {
      void this.reload();
    }
    this._deliverAll();
  }

  private _deliverAll(): void {
    this._delivering = this._delivering.then(async () => {
      for (const item of this._items) {
        if (this._isDisposed || this.services.client.state !== 'open') {
          return;
        }
        const message = this._items.find(now => now.key === item.key);
        if (message?.kind === 'user' && (message.delivery === 'waiting' || message.delivery === 'sending')) {
          await this._deliver(message);
        }
      }
    });
  }

  private async _deliver(message: UserMessage): Promise<void> {
    try {
      const sessionKey = this._key ?? (await this._create(message));
      const runId = this._unsure.has(message.key)
        ? ((await this._findArrived(sessionKey, message)) ?? (await this._ask(sessionKey, message)))
        : await this._ask(sessionKey, message);
      this._unsure.delete(message.key);
      this._update(message.key, { delivery: 'sent', runId });
      if (!this.isRunning && !findRun(this._items, runId)) {
        this._items = placeRun(this._items, newRun(runId));
        this._emit();
      }
    } catch (error) {
      this._onUndelivered(message, error);
    }
  }

  private async _ask(sessionKey: string, message: UserMessage): Promise<string> {
    this._update(message.key, { delivery: 'sending' });
    const context = message.context.length > 0 ? [...message.context] : null;
    const model = this._models.get(message.key) ?? null;
    const sent = await this.services.client.request('chat.send', {
      sessionKey,
      message: message.text,
      context,
      model
    });
    return sent.runId;
  }

  private _onUndelivered(message: UserMessage, error: unknown): void {
    if (error instanceof RequestError) {
      this._update(message.key, {
        delivery: 'failed',
        problem: { code: String(error.code), message: error.message }
      });
      return;
    }
    if (error instanceof RequestTimeout || (error instanceof ConnectionLost && error.sent)) {
      this._unsure.add(message.key);
    }
    this._update(message.key, { delivery: 'waiting' });
  }

  private async _create(message: UserMessage): Promise<string> {
    const model = this._models.get(message.key) ?? null;
    const { sessionKey } = await this.services.client.request('sessions.create', { model });
    this._key = sessionKey;
    this._phase = 'ready';
    this._created.emit(sessionKey);
    await this.services.events.follow(sessionKey);
    return sessionKey;
  }

  /** The run of a message whose answer got lost, if the server has that message. */
  private async _findArrived(sessionKey: string, message: UserMessage): Promise<string | undefined> {
    const { messages } = await this.services.client.request('chat.history', { sessionKey, limit: 50 });
    const known = new Set(this._items.map(item => item.runId));
    const arrived = fromEntries(messages).find(
      item => !isRun(item) && item.text === message.text && !known.has(item.runId)
    );
    return arrived?.runId;
  }

  private _update(key: string, change: Partial<UserMessage>): void {
    this._items = replaceItem(this._items, key, item => ({ ...item, ...change }) as Item);
    this._emit();
  }

  private _emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private _key: string | null;
  private _phase: Phase = 'new';
  /** A reading was begun and has not succeeded since. */
  private _isBehind = false;
  private _problem: Problem | null = null;
  private _info: SessionInfo | null = null;
  private _items: Conversation = [];
  private _lastLocal = 0;
  private _isDisposed = false;
  /** Events that come while the session is being read; null when it has been. */
  private _early: EventFrame[] | null = null;
  private _cancelFrame: (() => void) | null = null;
  private _delivering: Promise<void> = Promise.resolve();
  private readonly _text = new Map<string, string>();
  private readonly _models = new Map<string, string | undefined>();
  private readonly _unsure = new Set<string>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _created = new Signal<this, string>(this);
}
