/** A scripted other end of the socket: tests decide what it answers and when. */
import { vi } from 'vitest';

import { SessionEvents } from '../src/protocol/session_events';
import { SocketClient } from '../src/protocol/socket_client';
import type { SocketLike } from '../src/protocol/socket_client';
import type { Events, Methods } from '../src/protocol/wire';

interface Asked {
  id: string;
  method: string;
  params: Record<string, unknown>;
}

export class FakeSocket implements SocketLike {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly asked: Asked[] = [];
  isClosed = false;

  constructor(private readonly answer: (socket: FakeSocket, asked: Asked) => void) {}

  send(text: string): void {
    const asked = JSON.parse(text) as Asked;
    this.asked.push(asked);
    this.answer(this, asked);
  }

  close(): void {
    this.isClosed = true;
  }

  frame(value: unknown): void {
    this.onmessage?.({ data: JSON.stringify(value) });
  }
}

type Result = unknown | ((params: never, socket: FakeSocket) => unknown);

/** Answers by method from `results`; a method that is not there gets no answer. */
export class Peer {
  readonly sockets: FakeSocket[] = [];
  results: { [M in keyof Methods]?: Result } = {};
  /** While false, a new connection never opens. */
  accepts = true;
  readonly client: SocketClient;
  readonly events: SessionEvents;

  constructor() {
    this.client = new SocketClient({ openSocket: () => this._open(), random: () => 1 });
    this.events = new SessionEvents(this.client);
  }

  get socket(): FakeSocket {
    return this.sockets[this.sockets.length - 1];
  }

  /** Everything asked of a method, over all connections. */
  askedFor(method: keyof Methods): Array<Record<string, unknown>> {
    return this.sockets.flatMap(socket =>
      socket.asked.filter(one => one.method === method).map(one => one.params)
    );
  }

  connect(): void {
    this.client.connect();
    this.socket.onopen?.();
  }

  emit<E extends keyof Events>(event: E, data: Partial<Events[E]>): void {
    this.socket.frame({ event, data });
  }

  lose(): void {
    this.socket.onclose?.();
  }

  /** Let the wait before the next attempt pass, and open that connection. */
  async comeBack(): Promise<void> {
    await vi.advanceTimersByTimeAsync(20_000);
    this.socket.onopen?.();
    await settle();
  }

  private _open(): FakeSocket {
    const socket = new FakeSocket((to, asked) => {
      const result = this.results[asked.method as keyof Methods];
      if (result === undefined) {
        return;
      }
      const value = typeof result === 'function' ? (result as Function)(asked.params, to) : result;
      to.frame(value instanceof Refusal ? { id: asked.id, error: value } : { id: asked.id, result: value });
    });
    this.sockets.push(socket);
    return socket;
  }
}

export class Refusal {
  constructor(
    readonly code: number,
    readonly message: string,
    readonly data?: unknown
  ) {}
}

/** Let everything that is ready to go on, go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) {
    await Promise.resolve();
  }
}
