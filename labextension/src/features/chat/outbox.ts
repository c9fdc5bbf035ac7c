/** Delivers messages to the server: in order, each exactly once, even if the connection comes and goes. */
import { ConnectionLost, RequestError, RequestTimeout } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import { asContextItems } from '../composer/context_items';
import type { ContextOf } from '../composer/context_items';
import { isRun, messagesOf } from './conversation';
import type { Conversation, UserMessage } from './conversation';

/**
 * Where a message ended up; `id` is set if it was found in the transcript, `context` is what the model gets.
 */
export interface Arrived {
  runId: string;
  steers?: boolean;
  id?: string;
  context?: readonly ContextOf[];
}

/** What a message's transcript entry says about it. */
interface Sent {
  runId?: string;
  steer?: boolean;
  context?: ContextOf[];
}

interface OutboxHost {
  items: () => Conversation;
  isOver: () => boolean;
  /** The session's key; creates the session on the server if there is none yet. */
  sessionKey: (model: string | null) => Promise<string>;
  update: (key: string, change: Partial<UserMessage>) => void;
  arrived: (key: string, arrived: Arrived) => void;
}

export class Outbox {
  constructor(
    private readonly client: SocketClient,
    private readonly host: OutboxHost
  ) {}

  /** Resolves when everything that can be delivered has been. */
  get delivered(): Promise<void> {
    return this._delivering;
  }

  add(message: UserMessage, model: string | undefined): void {
    this._models.set(message.key, model ?? null);
  }

  /** Delivers what waits; without a connection it keeps waiting. */
  deliver(): void {
    this._delivering = this._delivering.then(async () => {
      for (const item of this.host.items()) {
        if (this.host.isOver() || this.client.state !== 'open') {
          return;
        }
        const message = this._messageOf(item.key);
        if (message?.delivery === 'waiting' || message?.delivery === 'sending') {
          await this._deliver(message);
        }
      }
    });
  }

  private async _deliver(message: UserMessage): Promise<void> {
    try {
      const sessionKey = await this.host.sessionKey(this._models.get(message.key) ?? null);
      const before = this._undelivered.get(message.key);
      const arrived =
        (before && (await this._find(sessionKey, message, before))) ??
        (await this._send(sessionKey, message));
      this._undelivered.delete(message.key);
      this.host.arrived(message.key, arrived);
    } catch (error) {
      this._onUndelivered(message, error);
    }
  }

  private async _send(sessionKey: string, message: UserMessage): Promise<Arrived> {
    this.host.update(message.key, { delivery: 'sending' });
    this._known.set(message.key, knownNames(this.host.items()));
    const context = asContextItems(message.context);
    const sent = await this.client.request('chat.send', {
      sessionKey,
      message: message.text,
      context: context.length > 0 ? context : null,
      model: this._models.get(message.key) ?? null,
      whenBusy: message.whenBusy ?? null,
      toolMode: message.toolMode ?? null,
      effort: message.effort ?? null,
      mode: message.mode ?? null,
      typed: true
    });
    const steers = sent.delivery === 'steer' ? true : undefined;
    return { runId: sent.runId, steers, context: sent.context ?? undefined };
  }

  /** Finds a message whose answer got lost: an entry with the same words, added since it was sent. */
  private async _find(
    sessionKey: string,
    message: UserMessage,
    before: ReadonlySet<string>
  ): Promise<Arrived | undefined> {
    const { messages } = await this.client.request('chat.history', { sessionKey, limit: 50 });
    for (const entry of messages) {
      const { runId, steer, context } = (entry.meta ?? {}) as Sent;
      const isNew = !before.has(entry.id) && (steer === true || !before.has(runId ?? ''));
      if (entry.role === 'user' && entry.content === message.text && runId && isNew) {
        return { runId, steers: steer === true ? true : undefined, id: entry.id, context };
      }
    }
    return undefined;
  }

  private _onUndelivered(message: UserMessage, error: unknown): void {
    if (this._messageOf(message.key)?.delivery === 'sent') {
      // An event reported it before its answer got lost.
      return;
    }
    if (error instanceof RequestError) {
      this.host.update(message.key, {
        delivery: 'failed',
        problem: { code: String(error.code), message: error.message }
      });
      return;
    }
    const known = this._known.get(message.key);
    if (known && (error instanceof RequestTimeout || (error instanceof ConnectionLost && error.sent))) {
      this._undelivered.set(message.key, this._undelivered.get(message.key) ?? known);
    }
    this.host.update(message.key, { delivery: 'waiting' });
  }

  private _messageOf(key: string): UserMessage | undefined {
    const item = this.host.items().find(one => one.key === key);
    return item && !isRun(item) ? item : undefined;
  }

  private _delivering: Promise<void> = Promise.resolve();
  private readonly _models = new Map<string, string | null>();
  /** What was known of the session when a message was sent, by its key. */
  private readonly _known = new Map<string, ReadonlySet<string>>();
  /** Messages that may have arrived, with what was known before. */
  private readonly _undelivered = new Map<string, ReadonlySet<string>>();
}

/** The ids of everything shown: message entries, and runs. */
function knownNames(items: Conversation): ReadonlySet<string> {
  const ids = messagesOf(items).flatMap(message => [message.id, message.runId]);
  const runs = items.filter(isRun).map(run => run.runId);
  return new Set([...ids, ...runs].filter((name): name is string => name !== undefined));
}
