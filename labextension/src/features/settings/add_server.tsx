/** Adds a server of one's own: anything that speaks OpenAI's protocol. */
import { useState } from 'react';

import { onEnterSubmit } from '../../shared/hooks';
import { useUi } from '../../shared/ui_context';

interface AddServerProps {
  /** Names that are taken. */
  taken: readonly string[];
  online: boolean;
  add: (name: string, address: string) => void;
  back: () => void;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function AddServer({ taken, online, add, back }: AddServerProps): JSX.Element {
  const { trans } = useUi();
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const isTaken = taken.includes(name);
  const isNamed = NAME.test(name) && !isTaken;
  const isAddress = /^https?:\/\/\S+$/.test(address.trim());
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={back}>
          {trans.__('← All providers')}
        </button>
        <h3>{trans.__('Add a server')}</h3>
        <p>{trans.__('Anything that speaks the OpenAI protocol: vLLM, llama.cpp, SGLang, a gateway.')}</p>
      </header>
      <form
        className="onyx-Setting"
        onSubmit={event => {
          event.preventDefault();
          if (isNamed && isAddress && online) {
            add(name, address.trim());
          }
        }}
      >
        <label className="onyx-Setting-field">
          <span>{trans.__('Name')}</span>
          <input
            className="onyx-Input"
            data-onyx="server-name"
            placeholder="lab"
            aria-invalid={name !== '' && !isNamed}
            spellCheck={false}
            value={name}
            onChange={event => setName(event.target.value)}
            onKeyDown={onEnterSubmit}
          />
          <span className="onyx-Note">
            {isTaken
              ? trans.__('There is a provider of that name already.')
              : name !== '' && !isNamed
                ? trans.__('Small letters, digits, - and _.')
                : trans.__('Its models are called %1/…', name || 'lab')}
          </span>
        </label>
        <label className="onyx-Setting-field">
          <span>{trans.__('Address')}</span>
          <input
            className="onyx-Input"
            data-onyx="server-address"
            placeholder="http://localhost:8000/v1"
            aria-invalid={address !== '' && !isAddress}
            spellCheck={false}
            value={address}
            onChange={event => setAddress(event.target.value)}
            onKeyDown={onEnterSubmit}
          />
          {address !== '' && !isAddress && (
            <span className="onyx-Note">{trans.__('It begins with http:// or https://.')}</span>
          )}
        </label>
        <button
          type="submit"
          className="onyx-Button onyx-mod-accept"
          data-onyx="server-add"
          disabled={!isNamed || !isAddress || !online}
        >
          {trans.__('Add')}
        </button>
      </form>
    </>
  );
}
