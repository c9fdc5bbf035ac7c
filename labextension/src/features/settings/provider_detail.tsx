/** One provider: its state, its key, a test of the connection, and its models. */
import { useState } from 'react';

import type { KeyStore, ProviderCard, ProviderTest } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { modelName } from '../composer/model_choice';
import { stateName, testWords } from './provider_words';
import { SettingField, lockedText } from './setting_field';
import type { Settings } from './settings';
import { SignIn } from './sign_in';
import type { SignInActs } from './sign_in';
import { StoreKey } from './store_key';

export interface ProviderDetailProps extends SignInActs {
  card: ProviderCard;
  keyStore: KeyStore;
  /** How many keys are in it. */
  stored: number;
  settings: Settings;
  test: ProviderTest | 'running' | null;
  online: boolean;
  /** The default model, null if it is not known. */
  standard: string | null;
  setKey: (secret: string) => Promise<boolean>;
  /** Moves the key that onyx.json contains to the store. */
  moveKey: () => void;
  removeKey: () => void;
  /** Encrypts all stored keys with a new key; resolves to whether it was done. */
  rotateKey: () => Promise<boolean>;
  runTest: (model: string | null) => void;
  useModel: (model: string) => void;
  makeStandard: (model: string) => void;
  back: () => void;
}

export function ProviderDetail(props: ProviderDetailProps): JSX.Element {
  const { card, back } = props;
  const { trans } = useUi();
  const state = stateName(card.state, trans) || trans.__('not set up');
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={back}>
          {trans.__('← All providers')}
        </button>
        <h3>{card.title}</h3>
        <div className="onyx-Detail-facts" data-onyx="provider-state" data-state={card.state}>
          <span>{state}</span>
          <span>
            <code>{card.name}/…</code>
          </span>
          {card.baseUrl && <span>{card.baseUrl}</span>}
        </div>
      </header>
      {(card.state === 'failing' || card.state === 'locked') && card.message && (
        <div className="onyx-Problem" data-onyx="provider-problem">
          {[card.message, card.hint].filter(Boolean).join(' ')}
        </div>
      )}
      {card.state !== 'locked' && (
        <>
          {card.subscription ? (
            <SignIn {...props} subscription={card.subscription} />
          ) : (
            <>
              {(card.needsKey || card.key || card.baseUrl) && <KeyPart {...props} />}
              {!card.needsKey && card.state === 'not_configured' && (
                <p className="onyx-Note">{startHint(card, trans)}</p>
              )}
            </>
          )}
          <PlacePart {...props} />
          {card.subscription?.kind !== 'program' && <TestPart {...props} />}
          <ModelsPart {...props} />
        </>
      )}
    </>
  );
}

function startHint(card: ProviderCard, trans: Ui['trans']): string {
  if (card.ownServer) {
    return trans.__('Start it, then refresh. If it runs on another port or machine, enter its address.');
  }
  return trans.__('It takes its credentials from the environment of this server. See the documentation.');
}

function KeyPart(props: ProviderDetailProps): JSX.Element {
  const { card, keyStore, stored, online, setKey, moveKey, removeKey, rotateKey } = props;
  const { trans } = useUi();
  const [secret, setSecret] = useState('');
  const [isSaving, setIsSaving] = useState(false);
  const isFixed = card.key === 'environment' || card.key === 'reference';
  const save = () => {
    setIsSaving(true);
    void setKey(secret).then(isStored => {
      setIsSaving(false);
      if (isStored) {
        setSecret('');
      }
    });
  };
  return (
    <section className="onyx-Setting" aria-label={trans.__('API key')}>
      <h4>{trans.__('API key')}</h4>
      {isFixed && (
        <p data-onyx="key-locked">
          {trans.__('Set by the environment variable')} <code>{card.variable}</code>.{' '}
          {trans.__('Change it there, then restart JupyterLab.')}
        </p>
      )}
      {card.keyInFile && (
        <div className="onyx-Problem" data-onyx="key-in-file">
          <p>{trans.__('onyx.json contains the key, so everyone who sees the file can read it.')}</p>
          <button
            type="button"
            className="onyx-Button onyx-Setting-move"
            data-onyx="key-move"
            disabled={!online}
            onClick={moveKey}
          >
            {trans.__('Move to the store')}
          </button>
        </div>
      )}
      {!isFixed && (
        <form
          className="onyx-Setting-row"
          onSubmit={event => {
            event.preventDefault();
            if (secret.trim() && online) {
              save();
            }
          }}
        >
          <input
            type="password"
            className="onyx-Input"
            data-onyx="key-input"
            aria-label={trans.__('API key of %1', card.title)}
            placeholder={keyHint(card, trans)}
            autoComplete="off"
            spellCheck={false}
            value={secret}
            onChange={event => setSecret(event.target.value)}
          />
          <button
            type="submit"
            className="onyx-Button onyx-mod-accept"
            data-onyx="key-save"
            disabled={!secret.trim() || !online || isSaving}
          >
            {isSaving ? trans.__('Saving…') : trans.__('Save')}
          </button>
          {card.key === 'store' && (
            <button
              type="button"
              className="onyx-Button"
              data-onyx="key-remove"
              disabled={!online}
              onClick={removeKey}
            >
              {trans.__('Remove')}
            </button>
          )}
        </form>
      )}
      {!isFixed && <p className="onyx-Note">{storeWords(card, keyStore, trans)}</p>}
      {card.key === 'store' && !keyStore.problem && <StoreKey {...{ stored, online }} rotate={rotateKey} />}
    </section>
  );
}

function keyHint(card: ProviderCard, trans: Ui['trans']): string {
  if (card.key) {
    return trans.__('Enter a new key to replace it');
  }
  return card.needsKey ? trans.__('Paste a key') : trans.__('Only if it asks for one');
}

function storeWords(card: ProviderCard, { place, problem }: KeyStore, trans: Ui['trans']): string {
  if (problem) {
    return problem;
  }
  const usual = card.keyVariables?.length
    ? ` ${trans.__('Or set %1 before JupyterLab starts.', card.keyVariables.join(trans.__(' or ')))}`
    : '';
  if (card.key !== 'store') {
    return trans.__('It is stored encrypted, and sent to this provider only.') + usual;
  }
  if (place === 'file') {
    return trans.__('Encrypted; its encryption key is in a file that only you can read.') + usual;
  }
  return trans.__('Encrypted; its encryption key is in the system’s keyring.') + usual;
}

/** Where it is, for providers that need more than a key. */
function PlacePart({ card, settings, online }: ProviderDetailProps): JSX.Element | null {
  const { trans } = useUi();
  const fields = placeFields(card, trans);
  return fields.length === 0 ? null : (
    <section className="onyx-Setting" aria-label={trans.__('Address')}>
      <h4>{trans.__('Address')}</h4>
      {fields.map(({ key, label, placeholder }) => (
        <SettingField
          key={key}
          name={`providers.${card.name}.${key}`}
          {...{ settings, label, placeholder, online }}
        />
      ))}
    </section>
  );
}

interface PlaceField {
  key: string;
  label: string;
  placeholder: string;
}

function placeFields(card: ProviderCard, trans: Ui['trans']): readonly PlaceField[] {
  const address = (placeholder: string) => ({ key: 'baseUrl', label: trans.__('Address'), placeholder });
  switch (card.name) {
    case 'bedrock':
      return [
        { key: 'region', label: trans.__('Region'), placeholder: 'us-east-1' },
        { key: 'profile', label: trans.__('Profile'), placeholder: 'default' }
      ];
    case 'vertex':
      return [
        { key: 'project', label: trans.__('Project'), placeholder: 'my-project' },
        { key: 'location', label: trans.__('Location'), placeholder: 'europe-west4' }
      ];
    case 'azure':
      return [
        address('https://….openai.azure.com'),
        { key: 'apiVersion', label: trans.__('API version'), placeholder: '2024-10-21' }
      ];
    case 'ollama':
      return [address('http://localhost:11434')];
    case 'lm_studio':
      return [address('http://localhost:1234/v1')];
    default:
      return card.baseUrl ? [address('http://localhost:8000/v1')] : [];
  }
}

function TestPart({ card, test, online, runTest }: ProviderDetailProps): JSX.Element {
  const { trans } = useUi();
  const [model, setModel] = useState<string | null>(null);
  const chosen = model !== null && card.models.includes(model) ? model : null;
  return (
    <section className="onyx-Setting" aria-label={trans.__('Connection')}>
      <h4>{trans.__('Connection')}</h4>
      <div className="onyx-Setting-row">
        {card.models.length > 1 && (
          <select
            className="onyx-Select"
            aria-label={trans.__('Model to test')}
            data-onyx="test-model"
            value={chosen ?? ''}
            onChange={event => setModel(event.target.value || null)}
          >
            <option value="">{trans.__('Any model')}</option>
            {card.models.map(id => (
              <option key={id} value={id}>
                {modelName(id)}
              </option>
            ))}
          </select>
        )}
        <button
          type="button"
          className="onyx-Button"
          data-onyx="test-connection"
          disabled={!online || test === 'running' || card.state === 'not_configured'}
          onClick={() => runTest(chosen)}
        >
          {test === 'running' ? trans.__('Testing…') : trans.__('Test connection')}
        </button>
      </div>
      <p role="status" data-onyx="test-result" className={resultClass(test)}>
        {test === null || test === 'running'
          ? trans.__('Asks for one short answer, which may cost a fraction of a cent.')
          : testWords(test, trans)}
      </p>
    </section>
  );
}

function resultClass(test: ProviderTest | 'running' | null): string {
  return test === null || test === 'running' ? 'onyx-Note' : test.ok ? 'onyx-Setting-good' : 'onyx-Problem';
}

function ModelsPart(props: ProviderDetailProps): JSX.Element {
  const { card, online, standard, settings, useModel, makeStandard } = props;
  const locked = settings.lockedBy('runtime.defaultModel');
  const { trans } = useUi();
  return (
    <section className="onyx-Setting" aria-label={trans.__('Models')}>
      <h4>{trans.__('Models')}</h4>
      {card.models.length === 0 && (
        <p className="onyx-Note">
          {card.state === 'not_configured'
            ? trans.__('They are listed once the provider is set up.')
            : trans.__('None is known. Refresh the list, or choose provider/model in onyx.json.')}
        </p>
      )}
      <ul className="onyx-Setting-models" data-onyx="provider-models">
        {card.models.map(id => (
          <li key={id} data-model={id}>
            <span title={id}>{modelName(id)}</span>
            {id === standard ? (
              <span className="onyx-Row-state">{trans.__('default')}</span>
            ) : (
              <button
                type="button"
                className="onyx-Link"
                data-onyx="make-default"
                disabled={!online || locked !== null}
                title={
                  locked ? lockedText(locked, trans) : trans.__('Answers wherever no other model is chosen')
                }
                onClick={() => makeStandard(id)}
              >
                {trans.__('Make default')}
              </button>
            )}
            <button type="button" className="onyx-Link" data-onyx="use-model" onClick={() => useModel(id)}>
              {trans.__('Use in this chat')}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
