/**
 * The sidebar as JupyterLab sees it: a panel with an icon, which carries a dot while a request waits for an
 * answer.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { type ISignal, Signal } from '@lumino/signaling';

import { ChatView } from './chat_view';
import type { ChatViewProps } from './chat_view';
import { ContextDrop } from '../composer/context_drop';
import type { DropHost } from '../composer/context_drop';
import { onyxIcon } from '../../shared/onyx_icon';

export class ChatSidebar extends ReactWidget {
  constructor(
    private readonly props: ChatViewProps,
    private readonly trans: TranslationBundle,
    drop: DropHost
  ) {
    super();
    this.id = 'onyx-chat';
    this.addClass('onyx-Chat');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Onyx chat'));
    this.node.dataset.onyx = 'sidebar';
    this.title.icon = onyxIcon;
    this.markWaiting(0);
    this._drop = new ContextDrop(this.node, drop);
  }

  override dispose(): void {
    this._drop.dispose();
    super.dispose();
  }

  /** The sidebar was shown or hidden. */
  get visibilityChanged(): ISignal<this, void> {
    return this._visibilityChanged;
  }

  /** Shows on the icon that calls wait for an answer. */
  markWaiting(count: number): void {
    this.title.caption =
      count > 0
        ? this.trans._n(
            'Onyx: one request is waiting for you',
            'Onyx: %1 requests are waiting for you',
            count
          )
        : 'Onyx';
    this.title.className = count > 0 ? 'onyx-mod-waiting' : '';
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._visibilityChanged.emit();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._visibilityChanged.emit();
  }

  protected override render(): JSX.Element {
    return <ChatView {...this.props} />;
  }

  private readonly _drop: ContextDrop;
  private readonly _visibilityChanged = new Signal<this, void>(this);
}
