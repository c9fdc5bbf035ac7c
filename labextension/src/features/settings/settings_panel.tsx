/** The settings as a panel of the main area: connects the models to the components. */
import { ReactWidget, refreshIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { useEffect, useState } from 'react';

import { useSignals } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { PanelFrame } from '../../shared/panel_frame';
import { RefusalNote } from '../../shared/problem_notes';
import { UiProvider } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { AddServer } from './add_server';
import { AgentDetail } from './agent_detail';
import type { Agents } from './agents';
import { ModelRoles } from './model_roles';
import { ProviderDetail } from './provider_detail';
import { ProviderList } from './provider_list';
import type { Providers } from './providers';
import type { Settings } from './settings';

export interface SettingsPanelProps {
  providers: Providers;
  settings: Settings;
  agents: Agents;
  /** Makes a model that of the conversation in the sidebar. */
  useModel: (model: string) => void;
  copyPath: () => void;
  ui: Ui;
}

export class SettingsPanel extends ReactWidget {
  constructor(private readonly props: SettingsPanelProps) {
    super();
    this.addClass('onyx-Panel');
    this.node.dataset.onyx = 'settings-panel';
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.props.providers.load();
    void this.props.agents.load();
  }

  protected override render(): JSX.Element {
    return (
      <UiProvider value={this.props.ui}>
        <Panel {...this.props} />
      </UiProvider>
    );
  }
}

function Panel({ providers, settings, agents, useModel, copyPath, ui }: SettingsPanelProps): JSX.Element {
  const { trans } = ui;
  const { client } = providers;
  const [shown, setShown] = useState<'provider' | 'roles' | 'add'>('provider');
  const [agentName, setAgentName] = useState<string | null>(null);
  useSignals(providers.changed, settings.changed, agents.changed, client.stateChanged);
  useEffect(() => {
    void providers.open().then(() => providers.refresh());
    void settings.open();
    void agents.open();
    return () => {
      providers.close();
      settings.close();
      agents.close();
    };
  }, [providers, settings, agents]);
  const card = providers.selected;
  const agent = card ? null : (agents.agents.find(one => one.name === agentName) ?? null);
  const online = client.state === 'open';
  const show = (what: typeof shown, provider: string | null = null, other: string | null = null) => {
    setShown(what);
    setAgentName(other);
    providers.select(provider);
  };
  const back = () => show('provider');
  const standard = settings.value('runtime.defaultModel');
  return (
    <PanelFrame
      title={trans.__('Onyx settings')}
      about={trans.__('The models that answer: keys, connections, and which one does what.')}
      hook="settings-frame"
      showsDetail={card !== null || agent !== null || shown !== 'provider'}
      actions={
        <>
          <button
            type="button"
            className="onyx-Button"
            data-onyx="show-roles"
            aria-pressed={shown === 'roles'}
            onClick={() => show('roles')}
          >
            {trans.__('Models and budget')}
          </button>
          <button type="button" className="onyx-Button" data-onyx="add-server" onClick={() => show('add')}>
            {trans.__('Add a server…')}
          </button>
          <IconButton
            icon={refreshIcon}
            label={trans.__('Ask the servers which models they have')}
            hook="refresh-providers"
            disabled={!online || providers.isRefreshing}
            onClick={() => {
              void providers.refresh();
              void agents.load();
            }}
          />
        </>
      }
      notice={<Notices {...{ providers, settings, copyPath, trans }} />}
      list={
        <ProviderList
          cards={providers.cards}
          selected={card?.name ?? null}
          select={name => show('provider', name)}
          agents={agents.agents}
          selectedAgent={agent?.name ?? null}
          selectAgent={name => show('provider', null, name)}
        />
      }
      detail={
        card ? (
          <ProviderDetail
            key={card.name}
            card={card}
            keyStore={providers.keyStore}
            stored={(providers.cards ?? []).filter(one => one.key === 'store').length}
            test={providers.test(card.name)}
            online={online}
            standard={typeof standard === 'string' ? standard : null}
            settings={settings}
            setKey={secret => providers.setKey(card.name, secret)}
            moveKey={() => void providers.moveKey(card.name)}
            removeKey={() => void providers.removeKey(card.name)}
            rotateKey={() => providers.rotate()}
            runTest={model => void providers.runTest(card.name, model)}
            signIn={() => void providers.signIn(card.name)}
            cancelSignIn={() => void providers.cancelSignIn(card.name)}
            signOut={() => void providers.signOut(card.name)}
            useModel={useModel}
            makeStandard={model => void settings.set('runtime.defaultModel', model)}
            back={back}
          />
        ) : agent ? (
          <AgentDetail agent={agent} useModel={useModel} back={back} />
        ) : shown === 'roles' ? (
          <ModelRoles
            settings={settings}
            models={(providers.cards ?? []).flatMap(one => one.models)}
            online={online}
            back={back}
          />
        ) : shown === 'add' ? (
          <AddServer
            taken={(providers.cards ?? []).map(one => one.name)}
            online={online}
            add={(name, address) =>
              void settings.set(`providers.${name}.baseUrl`, address).then(async () => {
                if (settings.refusal === null && settings.conflict === null) {
                  await providers.refresh();
                  show('provider', name);
                }
              })
            }
            back={back}
          />
        ) : (
          <div className="onyx-Panel-empty" data-onyx="settings-empty">
            <p>{trans.__('Choose a provider to enter its key and test the connection.')}</p>
            <p className="onyx-Note">
              {trans.__(
                'Without one, a model on this machine answers: it needs no account, and nothing leaves the machine.'
              )}
            </p>
          </div>
        )
      }
    />
  );
}

interface NoticesProps {
  providers: Providers;
  settings: Settings;
  copyPath: () => void;
  trans: Ui['trans'];
}

/** What could not be read or done, what is wrong in the file, and a change that waits for a decision. */
function Notices({ providers, settings, copyPath, trans }: NoticesProps): JSX.Element {
  const problem = providers.problem ?? settings.problem;
  const problems = settings.info?.problems ?? [];
  return (
    <>
      {problem && (
        <div className="onyx-Problem" role="alert" data-onyx="settings-problem">
          {problem}
        </div>
      )}
      {providers.keyStore.problem && (
        <div className="onyx-Problem" role="alert" data-onyx="key-store-problem">
          {providers.keyStore.problem}
        </div>
      )}
      {problems.length > 0 && (
        <div className="onyx-Problem" data-onyx="config-problems">
          <ul>
            {problems.map(one => (
              <li key={one.message}>{one.message}</li>
            ))}
          </ul>
          <button type="button" className="onyx-Link" onClick={copyPath}>
            {trans.__('Copy the path of onyx.json')}
          </button>
        </div>
      )}
      {settings.conflict && (
        <div className="onyx-Problem" role="alert" data-onyx="settings-conflict">
          <p>
            {trans.__('onyx.json was changed meanwhile, so nothing was written. This is what changed in it:')}
          </p>
          <pre className="onyx-Source">{settings.conflict}</pre>
          <button
            type="button"
            className="onyx-Button"
            data-onyx="set-anyway"
            onClick={() => void settings.setAnyway()}
          >
            {trans.__('Make my change too')}
          </button>{' '}
          <button type="button" className="onyx-Link" onClick={() => settings.dismissConflict()}>
            {trans.__('Leave it')}
          </button>
        </div>
      )}
      <RefusalNote
        reason={providers.refusal ?? settings.refusal}
        dismiss={() => {
          providers.dismissRefusal();
          settings.dismissRefusal();
        }}
        hook="settings-refusal"
      />
    </>
  );
}
