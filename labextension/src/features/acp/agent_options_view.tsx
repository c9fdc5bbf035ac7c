/** The options of the other agent that answers, above the input. */
import { useEffect } from 'react';

import type { AcpOption } from '../../protocol/wire';
import { useSignals } from '../../shared/hooks';
import { RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';
import { modelName } from '../composer/model_choice';
import type { AgentOptions } from './agent_options';

interface AgentOptionsViewProps {
  agentOptions: AgentOptions;
  sessionKey: string | null;
  /** The agent as a model: `acp/<name>`. */
  model: string;
  running: boolean;
  online: boolean;
}

export function AgentOptionsView(props: AgentOptionsViewProps): JSX.Element | null {
  const { agentOptions, sessionKey, model, running, online } = props;
  const { trans } = useUi();
  useSignals(agentOptions.changed);
  useEffect(() => {
    void agentOptions.open();
    return () => agentOptions.close();
  }, [agentOptions, sessionKey, model]);
  const options = agentOptions.of(model);
  const name = modelName(model);
  if (options === null) {
    return (
      <p className="onyx-AgentOptions onyx-Note" data-onyx="agent-not-started">
        {running
          ? trans.__('Starting %1…', name)
          : trans.__('%1 starts with your next message; its options then appear here.', name)}
      </p>
    );
  }
  return options.length === 0 ? null : (
    <div
      className="onyx-AgentOptions"
      role="group"
      aria-label={trans.__('Options of %1', name)}
      data-onyx="agent-options"
    >
      {options.map(option => (
        <OptionField
          key={option.id}
          option={option}
          disabled={!online || agentOptions.pending !== null}
          choose={value => void agentOptions.choose(option.id, value)}
        />
      ))}
      <RefusalNote
        reason={agentOptions.refusal}
        dismiss={() => agentOptions.dismissRefusal()}
        hook="agent-option-refusal"
      />
    </div>
  );
}

interface OptionFieldProps {
  option: AcpOption;
  disabled: boolean;
  choose: (value: string | boolean) => void;
}

function OptionField({ option, disabled, choose }: OptionFieldProps): JSX.Element {
  const { id, name, value, choices } = option;
  return (
    <label className="onyx-AgentOption">
      {typeof value === 'boolean' ? (
        <input
          type="checkbox"
          data-onyx="agent-option"
          data-option={id}
          checked={value}
          disabled={disabled}
          onChange={event => choose(event.target.checked)}
        />
      ) : null}
      <span>{name}</span>
      {typeof value === 'string' ? (
        <select
          className="onyx-Select"
          data-onyx="agent-option"
          data-option={id}
          value={value}
          disabled={disabled}
          onChange={event => choose(event.target.value)}
        >
          {choices.map(choice => (
            <option key={choice.value} value={choice.value}>
              {choice.name}
            </option>
          ))}
        </select>
      ) : null}
    </label>
  );
}
