/**
 * A turn asked for by a cell, as its output shows it. While the cell runs, it follows the session live, like
 * the sidebar. Afterwards, and in every saved notebook, it shows only what the output holds.
 */
import { findRun } from '../chat/conversation';
import type { Run } from '../chat/conversation';
import { readPlan } from '../chat/plan';
import type { Plan } from '../chat/plan';
import { Session } from '../chat/session';
import type { ApprovalScope, SessionServices } from '../chat/session';
import { ViewModel } from '../../shared/view_model';

export const TURN_MIME_TYPE = 'application/vnd.onyx.turn+json';

export interface StoredStep {
  kind: 'step';
  status: string;
  verb: string;
  object: string;
  isCode: boolean;
  note: string;
}

export type StoredPart = { kind: 'text'; text: string } | StoredStep;

/** A turn as an output stores it; the plan is the newest one. */
export interface StoredTurn {
  sessionKey: string;
  runId: string;
  status: string;
  parts: readonly StoredPart[];
  plan: Plan | null;
  problem: string;
}

const NOTHING: StoredTurn = {
  sessionKey: '',
  runId: '',
  status: 'interrupted',
  parts: [],
  plan: null,
  problem: ''
};

export class CellTurn extends ViewModel {
  constructor(private readonly services: SessionServices) {
    super();
  }

  get stored(): StoredTurn {
    return this._stored;
  }

  /** The run as the server has it: only while the cell waits for it, and only for an output produced here. */
  get run(): Run | null {
    return (this._session && findRun(this._session.items, this._stored.runId)) ?? null;
  }

  /** Whether the run is being followed on the server; this takes a moment at first. */
  get isFollowed(): boolean {
    return this._session !== null && this._session.phase !== 'failed';
  }

  get online(): boolean {
    return this.services.client.state === 'open';
  }

  /** The output changed. An untrusted one came from a file: it is shown but never followed. */
  update(data: unknown, isTrusted: boolean): void {
    this._stored = asStoredTurn(data);
    const { status, sessionKey } = this._stored;
    if (status === 'running' && isTrusted && sessionKey) {
      this._follow(sessionKey);
    } else {
      this._unsubscribe();
    }
    this.emit();
  }

  approve = (approvalId: string, scope: ApprovalScope, version: string): Promise<void> =>
    this._session?.approve(approvalId, scope, version) ?? Promise.resolve();

  deny = (approvalId: string, reason: string): Promise<void> =>
    this._session?.deny(approvalId, reason) ?? Promise.resolve();

  answer = (questionId: string, answer: string | null): Promise<void> =>
    this._session?.answer(questionId, answer) ?? Promise.resolve();

  override dispose(): void {
    this._unsubscribe();
    super.dispose();
  }

  private _follow(sessionKey: string): void {
    if (this._session?.key === sessionKey) {
      return;
    }
    this._unsubscribe();
    this._session = new Session(this.services, sessionKey);
    this._session.changed.connect(this.emit, this);
    this.services.client.stateChanged.connect(this.emit, this);
  }

  private _unsubscribe(): void {
    this._session?.dispose();
    this._session = null;
    this.services.client.stateChanged.disconnect(this.emit, this);
  }

  private _session: Session | null = null;
  private _stored: StoredTurn = NOTHING;
}

/** A file may contain anything: whatever is not a turn becomes an empty one. */
export function asStoredTurn(data: unknown): StoredTurn {
  const given = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const parts: Array<Record<string, unknown> | null> = Array.isArray(given.parts) ? given.parts : [];
  return {
    sessionKey: text(given.sessionKey),
    runId: text(given.runId),
    status: text(given.status) || NOTHING.status,
    problem: text(given.problem),
    parts: parts.flatMap(asPart),
    plan: readPlan(parts.find(part => part?.kind === 'plan')?.steps)
  };
}

function asPart(part: Record<string, unknown> | null): StoredPart[] {
  if (part?.kind === 'text') {
    return [{ kind: 'text', text: text(part.text) }];
  }
  if (part?.kind !== 'step') {
    return [];
  }
  const { status, verb, object, isCode, note } = part;
  return [
    {
      kind: 'step',
      status: text(status),
      verb: text(verb),
      object: text(object),
      isCode: isCode === true,
      note: text(note)
    }
  ];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
