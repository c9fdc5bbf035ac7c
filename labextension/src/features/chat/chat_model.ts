/**
 * The chat behind the sidebar: `@jupyter/chat`'s model (input, attachments, context for its registries) on
 * top of the current Onyx session. It chooses that session and remembers drafts; the session owns the
 * conversation.
 */
import { AbstractChatModel } from '@jupyter/chat';
import type { IChatContext, IMessageContent, INewMessage } from '@jupyter/chat';
import { type ISignal, Signal } from '@lumino/signaling';

import type { ContextItem } from '../../protocol/wire';
import { Composing } from '../composer/composing';
import { ContextChips } from '../composer/chosen_context';
import { asContextItems } from '../composer/context_items';
import { isRun, messagesOf } from './conversation';
import type { Item, Run, WhenBusy } from './conversation';
import { allowedMode, MODES } from '../composer/mode';
import type { Mode } from '../composer/mode';
import { Session } from './session';
import type { SessionServices } from './session';
import type { Effort, Manner, ToolMode } from '../composer/model_choice';
import type { TabMemory } from './tab_memory';

const PERSON = { username: 'you', display_name: 'You' };
const ONYX = { username: 'onyx', display_name: 'Onyx', bot: true };

/** The notebook that is sent along with a message, with its active cell. */
interface NotebookInFront {
  readonly path: string | null;
  readonly activeCellId: string | null;
  readonly isIncluded: boolean;
}

export class ChatModel extends AbstractChatModel {
  constructor(
    private readonly services: SessionServices,
    private readonly memory: TabMemory,
    private readonly front: NotebookInFront | null = null,
    private readonly allowedModes: () => readonly Mode[] = () => MODES,
    private readonly standardModel: () => string | null = () => null
  ) {
    super({ id: 'onyx' });
    this.name = 'Onyx';
    this._chosenModel = memory.model;
    this._composing = new Composing(services.client, () => ({
      sessionKey: this._session.key,
      model: this.chosenModel,
      mode: this.mode,
      answeredBy: this.chosenModel ?? this.standardModel()
    }));
    this.chips = new ContextChips(memory, memory.session);
    this._session = this._begin(memory.session);
    this.input.value = memory.draft(this._session.key);
    this.input.valueChanged.connect((_, value) => memory.setDraft(this._session.key, value));
    this.setReady();
  }

  /** What is sent along with the message being written, besides the notebook in front. */
  readonly chips: ContextChips;

  get session(): Session {
    return this._session;
  }

  /** Another session came to the front. */
  get sessionChanged(): ISignal<this, Session> {
    return this._sessionChanged;
  }

  /** The model chosen by hand; null leaves the choice to the agent. */
  get chosenModel(): string | null {
    return this._chosenModel ?? this._session.info?.model ?? null;
  }

  chooseModel(model: string | null): void {
    this._chosenModel = model;
    this.memory.model = model;
    this._sessionChanged.emit(this._session);
  }

  /** How the next model acts: as chosen in this browser or for this session. */
  get toolMode(): ToolMode {
    const model = this._answering;
    const { info } = this._session;
    const before = info && (info.model ?? this.standardModel()) === model ? info.toolMode : null;
    return this.memory.toolMode(model) ?? before ?? 'auto';
  }

  chooseToolMode(mode: ToolMode): void {
    this.memory.setToolMode(this._answering, mode);
    this._sessionChanged.emit(this._session);
  }

  /** How much the next model thinks, as chosen in this browser; null leaves it to its provider. */
  get effort(): Effort | null {
    return this.memory.effort(this._answering);
  }

  chooseEffort(effort: Effort | null): void {
    this.memory.setEffort(this._answering, effort);
    this._sessionChanged.emit(this._session);
  }

  /** How much Onyx may do with the next message; never more than the server allows. */
  get mode(): Mode {
    return allowedMode(this.memory.mode(this._session.key), this.allowedModes());
  }

  chooseMode(mode: Mode): void {
    this.memory.setMode(this._session.key, mode);
    this._sessionChanged.emit(this._session);
  }

  /** Shows a stored session, or with null a new one, which the server learns of with its first message. */
  openSession(key: string | null): void {
    if (key !== null && key === this._session.key) {
      return;
    }
    const before = this._session;
    this._session = this._begin(key);
    before.dispose();
    this.memory.session = key;
    this._composing.ended();
    const draft = this.memory.draft(key);
    this.input.value = draft;
    this.chips.open(key);
    this._sessionChanged.emit(this._session);
  }

  /** The user has changed the input's text. */
  type(text: string): void {
    this.input.value = text;
    this._composing.typed(text);
  }

  /** The user has focused the empty input, and no answer is in progress. */
  expectInput(): void {
    this._composing.onInputExpected();
  }

  override sendMessage(message: INewMessage): void {
    const text = message.body.trim();
    if (text) {
      const context = [...this._notebookContext(), ...this.chips.items];
      const { mode } = this;
      this.memory.setDraft(this._session.key, '');
      this._composing.ended();
      this.chips.clear();
      if (this._session.isGone) {
        this.openSession(null);
      }
      this._session.send(text, context, this.chosenModel ?? undefined, this._whenBusy, mode, this._manner);
    }
  }

  /** Sends a message without touching the input or its attachments. */
  ask(text: string, context: readonly ContextItem[], mode: Mode): void {
    const allowed = allowedMode(mode, this.allowedModes());
    this._session.send(text, context, this.chosenModel ?? undefined, undefined, allowed, this._manner);
  }

  /** Sends the input. Without `whenBusy` the server's configuration decides what it does during a run. */
  submit(whenBusy?: WhenBusy): void {
    this._whenBusy = whenBusy;
    this.input.send(this.input.value);
    this._whenBusy = undefined;
  }

  retry(run: Run): void {
    this._session.retry(run, this.chosenModel ?? undefined, this._manner);
  }

  /** Puts the last message back into the input. */
  editLast(): void {
    const last = messagesOf(this._session.items).at(-1);
    if (last) {
      this.input.value = last.text;
      asContextItems(last.context)
        .filter(item => item.type !== 'notebook')
        .forEach(item => this.chips.add(item));
    }
  }

  override createChatContext(): IChatContext {
    const messages = () => this._session.items.map(asMessage);
    return {
      name: this.name,
      user: PERSON,
      users: [PERSON, ONYX],
      get messages() {
        return messages();
      }
    };
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._session.dispose();
      this._composing.dispose();
      super.dispose();
      Signal.clearData(this);
    }
  }

  private _notebookContext(): ContextItem[] {
    const { front } = this;
    return front?.isIncluded && front.path ? [notebookItem(front.path, front.activeCellId)] : [];
  }

  private _begin(key: string | null): Session {
    const session = new Session(this.services, key);
    session.created.connect((_, created) => {
      if (session === this._session) {
        this.memory.session = created;
        this.memory.setDraft(null, '');
        this.memory.begin(created);
        this.chips.named(created);
        this.memory.setDraft(created, this.input.value);
      }
    });
    return session;
  }

  /** The id of the model that answers next; empty if there is none. */
  private get _answering(): string {
    return this.chosenModel ?? this.standardModel() ?? '';
  }

  private get _manner(): Manner {
    const { toolMode, effort } = this;
    return { toolMode: toolMode === 'auto' ? undefined : toolMode, effort: effort ?? undefined };
  }

  private readonly _composing: Composing;
  private _session: Session;
  private _whenBusy: WhenBusy | undefined;
  private _chosenModel: string | null;
  private readonly _sessionChanged = new Signal<this, Session>(this);
}

/** The notebook in front, with its active cell. */
export function notebookItem(path: string, cellId: string | null): ContextItem {
  return { type: 'notebook', path, cellId };
}

/** A conversation item in `@jupyter/chat`'s message format, for the registries that read it. */
function asMessage(item: Item): IMessageContent {
  const text = isRun(item)
    ? item.parts.flatMap(part => (part.kind === 'text' ? [part.text] : [])).join('\n\n')
    : item.text;
  return { id: item.key, type: 'msg', body: text, time: 0, sender: isRun(item) ? ONYX : PERSON };
}
