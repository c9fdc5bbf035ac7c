/** One other agent: whether its program is there, and how to install it. */
import type { AcpAgentInfo } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';
import { agentState } from './provider_words';

interface AgentDetailProps {
  agent: AcpAgentInfo;
  useModel: (model: string) => void;
  back: () => void;
}

export function AgentDetail({ agent, useModel, back }: AgentDetailProps): JSX.Element {
  const { trans } = useUi();
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={back}>
          {trans.__('← All providers')}
        </button>
        <h3>{agent.title}</h3>
        <div className="onyx-Detail-facts" data-onyx="agent-state">
          <span>{agentState(agent, trans)}</span>
          <span>
            <code>{agent.model}</code>
          </span>
          {agent.configured && <span>{trans.__('configured in onyx.json')}</span>}
        </div>
      </header>
      <section className="onyx-Setting" aria-label={trans.__('Program')}>
        <h4>{trans.__('Program')}</h4>
        <p>
          <code>{agent.command}</code>
        </p>
        {agent.installed ? (
          <button
            type="button"
            className="onyx-Button"
            data-onyx="use-agent"
            onClick={() => useModel(agent.model)}
          >
            {trans.__('Use in this chat')}
          </button>
        ) : (
          <p className="onyx-Note">
            {agent.configured
              ? trans.__('This program was not found. Correct acp.agents in onyx.json, or install it.')
              : trans.__('This program is not on the PATH of the Jupyter server.')}
          </p>
        )}
      </section>
      {!agent.installed && agent.install && (
        <section className="onyx-Setting" aria-label={trans.__('Installation')}>
          <h4>{trans.__('Installation')}</h4>
          <p>
            <code data-onyx="agent-install">{agent.install}</code>
          </p>
        </section>
      )}
      <p className="onyx-Note">
        {trans.__('To sign in, start the agent once in a terminal: Onyx offers no sign-in of its own.')}
      </p>
    </>
  );
}
