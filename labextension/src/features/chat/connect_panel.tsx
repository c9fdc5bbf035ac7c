/** The panel that explains how to connect a model: what to set, ready to copy, and a way to check it. */
import { closeIcon, checkIcon, copyIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef, useState } from 'react';

import type { Component } from '../../protocol/wire';
import { useTemporaryFlag } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { useUi } from '../../shared/ui_context';

interface ConnectPanelProps {
  /** The health of the configuration: where onyx.json is, or what is wrong with it. */
  config: Component | null;
  model: string | null;
  check: () => Promise<void>;
  close: () => void;
}

const KEY = `{
  agents: {
    defaults: {
      model: "openai/gpt-5-mini",
    },
  },
  providers: {
    openai: {
      apiKey: "\${OPENAI_API_KEY}",
    },
  },
}`;

const SERVER = `{
  agents: {
    defaults: {
      model: "openai/my-model",
    },
  },
  providers: {
    openai: {
      baseUrl: "http://localhost:8000/v1",
      apiKey: "none",
    },
  },
}`;

export function ConnectPanel({ config, model, check, close }: ConnectPanelProps): JSX.Element {
  const { trans } = useUi();
  const [isChecking, setIsChecking] = useState(false);
  const [wasChecked, setWasChecked] = useState(false);
  const answer = useRef<HTMLElement>(null);
  const answered = wasChecked && !isChecking;
  useEffect(() => {
    answer.current?.scrollIntoView({ block: 'nearest' });
  }, [answered]);
  const onCheck = () => {
    setIsChecking(true);
    void check().finally(() => {
      setIsChecking(false);
      setWasChecked(true);
    });
  };
  return (
    <section className="onyx-Connect" data-onyx="connect-panel" aria-label={trans.__('Connect a model')}>
      <header>
        <h3>{trans.__('Connect a model')}</h3>
        <IconButton icon={closeIcon} label={trans.__('Close')} hook="connect-close" onClick={close} />
      </header>
      <p>
        {trans.__(
          'Write one of these into onyx.json and check again. Keys may also come from the environment.'
        )}
      </p>
      {config && (
        <p className="onyx-Connect-path" data-onyx="config-state">
          {config.message}
          {config.hint ? ` ${config.hint}` : ''}
        </p>
      )}
      <h4>{trans.__('With a key')}</h4>
      <Copyable text={KEY} label={trans.__('Configuration for a key')} />
      <p>
        {trans.__('The same with')} <code>anthropic/…</code> {trans.__('and')} <code>ANTHROPIC_API_KEY</code>,{' '}
        <code>gemini/…</code> {trans.__('and')} <code>GEMINI_API_KEY</code>, <code>openrouter/…</code>,{' '}
        <code>mistral/…</code>.
      </p>
      <h4>{trans.__('With your own server')}</h4>
      <p>{trans.__('Anything that speaks the OpenAI protocol: vLLM, llama.cpp, LM Studio, a gateway.')}</p>
      <Copyable text={SERVER} label={trans.__('Configuration for your own server')} />
      <div className="onyx-Connect-check">
        <button
          type="button"
          className="onyx-Button"
          data-onyx="check-again"
          disabled={isChecking}
          onClick={onCheck}
        >
          {isChecking ? trans.__('Checking…') : trans.__('Check again')}
        </button>
        {answered && (
          <span role="status" ref={answer}>
            {config && !config.ok
              ? trans.__('The configuration has an error.')
              : trans.__('Now answering: %1', model || '–')}
          </span>
        )}
      </div>
    </section>
  );
}

function Copyable({ text, label }: { text: string; label: string }): JSX.Element {
  const { trans, copy } = useUi();
  const [copied, mark] = useTemporaryFlag();
  return (
    <div className="onyx-Copyable">
      <pre className="onyx-Source" tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <IconButton
        icon={copied ? checkIcon : copyIcon}
        label={copied ? trans.__('Copied') : trans.__('Copy')}
        onClick={() => {
          copy(text);
          mark();
        }}
      />
    </div>
  );
}
