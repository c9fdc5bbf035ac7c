/**
 * The models of this machine in the sidebar: the panel that lists them all, and the offer on the first page.
 */
import { useCallback, useEffect, useRef } from 'react';

import { useSignals } from '../../shared/hooks';
import { LocalModelOffer } from './local_model_offer';
import { LocalModelsPanel } from './local_models_panel';
import type { ChatModel } from '../chat/chat_model';
import type { LocalModels } from './local_models';
import type { ViewState } from '../chat/view_state';
import { useUi } from '../../shared/ui_context';
import type { SocketClient } from '../../protocol/socket_client';

interface LocalModelPartProps {
  localModels: LocalModels;
  client: SocketClient;
  view: ViewState;
}

export function AllLocalModels({ localModels, client, view }: LocalModelPartProps): JSX.Element {
  useSignals(localModels.changed, client.stateChanged);
  const open = useCallback(() => void localModels.load(), [localModels]);
  return (
    <LocalModelsPanel
      models={localModels.models}
      problem={localModels.problem}
      refusal={localModels.refusal}
      dismissRefusal={() => localModels.dismissRefusal()}
      online={client.state === 'open'}
      fetch={model => void localModels.fetch(model)}
      pause={model => void localModels.pause(model)}
      remove={model => void localModels.remove(model)}
      open={open}
      close={() => view.focusInput()}
    />
  );
}

interface OfferedModelProps extends LocalModelPartProps {
  chat: ChatModel;
  /** Whether a line above already names the model. */
  isNamed?: boolean;
}

/** What can be done if no model can answer. The line above the buttons explains where they lead. */
export function WaysWithoutModel(props: OfferedModelProps & { showSkills?: () => void }): JSX.Element {
  const { view, showSkills } = props;
  const { trans } = useUi();
  const link = (hook: string, label: string, go: () => void) => (
    <button type="button" className="onyx-Link" data-onyx={hook} onClick={go}>
      {label}
    </button>
  );
  return (
    <div className="onyx-Offer" data-onyx="ways-on">
      <OfferedModel {...props} isNamed />
      <div className="onyx-Offer-actions">
        {link('connect-model', trans.__('Connect a model'), () => view.show('connect'))}
        {showSkills && link('show-skills', trans.__('Skills'), showSkills)}
        {link('search-sessions', trans.__('Search'), () => view.show('sessions'))}
      </div>
    </div>
  );
}

/** Empty if a capable model is there. A model downloaded from here answers as soon as it is ready. */
export function OfferedModel({
  localModels,
  client,
  view,
  chat,
  isNamed
}: OfferedModelProps): JSX.Element | null {
  useSignals(localModels.changed, client.stateChanged);
  const wanted = useRef<string | null>(null);
  const { offered, models } = localModels;
  const isThere = models?.some(model => model.id === wanted.current && model.state === 'ready') ?? false;
  useEffect(() => {
    if (isThere) {
      chat.chooseModel(wanted.current);
      wanted.current = null;
    }
  }, [isThere, chat]);
  if (!offered) {
    return null;
  }
  return (
    <LocalModelOffer
      model={offered}
      refusal={localModels.refusal}
      online={client.state === 'open'}
      isNamed={isNamed}
      fetch={() => {
        wanted.current = offered.id;
        void localModels.fetch(offered);
      }}
      pause={() => void localModels.pause(offered)}
      showAll={() => view.show('local')}
    />
  );
}
