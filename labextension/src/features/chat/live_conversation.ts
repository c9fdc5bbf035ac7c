/**
 * A conversation and its session's state, kept current by events. While they are being read from the server,
 * events wait, so that none is lost or applied twice.
 */
import type { EventFrame } from '../../protocol/frames';
import type { Entry, SessionInfo } from '../../protocol/wire';
import { findRun } from './conversation';
import type { Conversation } from './conversation';
import { appendText, applyEvent } from './run_events';
import { endInterruptedRuns, fromEntries } from './transcript';

interface Listener {
  /** A run has begun. */
  started: (runId: string) => void;
  /** Text of an unknown run has arrived: an event is missing. */
  outOfStep: () => void;
}

export class LiveConversation {
  /** Immutable: a new object whenever something changes. */
  items: Conversation = [];
  info: SessionInfo | null = null;

  constructor(
    private readonly nowMs: () => number,
    private readonly listener: Listener
  ) {}

  /** Lets events wait; the returned function says whether no newer reading has begun. */
  startReading(): () => boolean {
    const waiting: EventFrame[] = (this._waiting = []);
    this._newestSeq = 0;
    return () => this._waiting === waiting;
  }

  /** The reading has failed. */
  stopReading(): void {
    this._waiting = null;
  }

  /** Takes what was read, then the events that have waited; `open` are the runs that wait for the user. */
  restore(info: SessionInfo, entries: Entry[], open: ReadonlySet<string>): void {
    const waiting = this._waiting ?? [];
    const replayed = new Set(
      waiting.flatMap(frame => (frame.event === 'chat.started' ? [frame.data.runId] : []))
    );
    const undelivered = this.items.filter(item => item.kind === 'user' && item.delivery !== 'sent');
    const running = info.activity === 'running' || info.activity === 'waiting';
    const stored = endInterruptedRuns(fromEntries(entries, replayed), runId => running || open.has(runId));
    this.info = info;
    this._waiting = null;
    this._text.clear();
    this.items = [...stored, ...undelivered];
    waiting.forEach(frame => this.apply(frame));
    this.flushText();
  }

  /** Whether the event was applied: not if it waits, or was replayed for another view of the session. */
  receive(frame: EventFrame): boolean {
    const { seq } = frame.data as { seq?: number | null };
    if (typeof seq === 'number') {
      if (seq <= this._newestSeq) {
        return false;
      }
      this._newestSeq = seq;
    }
    if (this._waiting) {
      this._waiting.push(frame);
      return false;
    }
    this.apply(frame);
    return true;
  }

  /** Text is only collected: `flushText` shows it. */
  apply(frame: EventFrame): void {
    if (frame.event === 'chat.delta') {
      const { runId, text } = frame.data;
      if (!findRun(this.items, runId) && !this._text.has(runId)) {
        this.listener.outOfStep();
        return;
      }
      this._text.set(runId, (this._text.get(runId) ?? '') + text);
      return;
    }
    if (frame.event === 'session.updated') {
      this.info = frame.data;
      return;
    }
    this.flushText();
    this.items = applyEvent(this.items, frame, this.nowMs());
    if (frame.event === 'chat.started') {
      this.listener.started(frame.data.runId);
    }
  }

  flushText(): void {
    for (const [runId, text] of this._text) {
      this.items = appendText(this.items, runId, text);
    }
    this._text.clear();
  }

  /** Events that arrive while the session is being read; null afterwards. */
  private _waiting: EventFrame[] | null = null;
  private _newestSeq = 0;
  private readonly _text = new Map<string, string>();
}
