/** The user's actions on what was remembered of a session: undo it, accept a proposal, compare. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { RequestError } from '../../protocol/frames';
import type { SocketClient } from '../../protocol/socket_client';
import type { MemoryAnswer } from '../../protocol/wire';
import type { Session } from '../chat/session';

export class MemoryActions {
  constructor(
    private readonly client: Pick<SocketClient, 'request'>,
    private readonly session: Pick<Session, 'key' | 'info'>
  ) {}

  undo(noteId: string, trans: TranslationBundle): Promise<MemoryAnswer> {
    return answerOf(
      this.client.request('memory.undo', { sessionKey: this.session.key ?? '', noteId }),
      trans
    );
  }

  accept(noteId: string, proposal: number, trans: TranslationBundle): Promise<MemoryAnswer> {
    return answerOf(
      this.client.request('memory.accept', { sessionKey: this.session.key ?? '', noteId, proposal }),
      trans
    );
  }

  /** What changed from one version of a file to another, or to the current file. */
  async diff(path: string, version: number, to?: number): Promise<string> {
    const agentId = this.session.info?.agentId;
    return (await this.client.request('memory.diff', { path, version, to, agentId })).diff;
  }
}

/** A failed request is an answer, too: it says why nothing was done. */
async function answerOf(request: Promise<MemoryAnswer>, trans: TranslationBundle): Promise<MemoryAnswer> {
  try {
    return await request;
  } catch (error) {
    const reason =
      error instanceof RequestError ? error.message : trans.__('There is no connection to the server.');
    return { ok: false, reason };
  }
}
