/** A turn as a cell output: passes JupyterLab's data to the model and draws the result. */
import type { IRenderMime } from '@jupyterlab/rendermime';
import { ReactWidget } from '@jupyterlab/ui-components';

import { useSignals } from '../../shared/hooks';
import { TurnCard } from './turn_card';
import { UiProvider } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { TURN_MIME_TYPE } from './cell_turn';
import type { CellTurn } from './cell_turn';

interface TurnOutputOptions {
  turn: CellTurn;
  ui: Ui;
  /** Shows a session in the sidebar. */
  openSession: ((sessionKey: string) => void) | null;
}

export class TurnOutput extends ReactWidget implements IRenderMime.IRenderer {
  constructor(private readonly options: TurnOutputOptions) {
    super();
    this.addClass('onyx-Chat');
    this.addClass('onyx-mod-cell');
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.options.turn.update(model.data[TURN_MIME_TYPE], model.trusted);
    return this.renderPromise ?? Promise.resolve();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.options.turn.dispose();
      super.dispose();
    }
  }

  protected override render(): JSX.Element {
    return (
      <UiProvider value={this.options.ui}>
        <Turn {...this.options} />
      </UiProvider>
    );
  }
}

function Turn({ turn, openSession }: TurnOutputOptions): JSX.Element {
  useSignals(turn.changed);
  const { stored } = turn;
  return (
    <TurnCard
      stored={stored}
      run={turn.run}
      isFollowed={turn.isFollowed}
      online={turn.online}
      openSession={openSession && stored.sessionKey ? () => openSession(stored.sessionKey) : null}
      approve={turn.approve}
      deny={turn.deny}
      answer={turn.answer}
    />
  );
}
