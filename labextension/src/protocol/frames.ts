/** The three frames of the socket, and the errors of a request. */
import type { Events, Methods } from './wire';

export type MethodName = keyof Methods;
type EventName = keyof Events;

/** One event as received, with `data` typed by its name. */
export type EventFrame = { [K in EventName]: { event: K; data: Events[K] } }[EventName];

export interface ResponseFrame {
  id: string;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** The server answered with an error; `code` is JSON-RPC's. */
export class RequestError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown
  ) {
    super(message);
    this.name = 'RequestError';
  }

  /** Which of Onyx's errors it is, such as `not_found`; null if the server gave none. */
  get reason(): string | null {
    const { data } = this;
    return typeof data === 'object' && data !== null && 'code' in data ? String(data.code) : null;
  }
}

/**
 * There was no connection, or it was lost before an answer came: `sent` tells whether the request had left.
 */
export class ConnectionLost extends Error {
  constructor(readonly sent: boolean) {
    super(
      sent
        ? 'The connection to the server was lost before it answered.'
        : 'There is no connection to the server.'
    );
    this.name = 'ConnectionLost';
  }
}

/** No answer within the time allowed. */
export class RequestTimeout extends Error {
  constructor(method: string, timeoutMs: number) {
    super(`The server did not answer ${method} within ${Math.round(timeoutMs / 1000)} s.`);
    this.name = 'RequestTimeout';
  }
}

/** A text frame parsed: a response, an event, or null for anything that this version does not know. */
export function parseFrame(text: string): ResponseFrame | EventFrame | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) {
    return null;
  }
  if ('event' in value && 'data' in value) {
    return value as EventFrame;
  }
  return 'id' in value && ('result' in value || 'error' in value) ? (value as ResponseFrame) : null;
}
