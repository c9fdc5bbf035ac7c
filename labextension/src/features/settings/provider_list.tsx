/** All providers, those in use first, then other agents; arrow keys move through the list. */
import { useState } from 'react';

import type { AcpAgentInfo, ProviderCard } from '../../protocol/wire';
import { Finder } from '../../shared/finder';
import { useUi } from '../../shared/ui_context';
import { agentState, groupName, groupOf, sourceName, stateName } from './provider_words';
import type { ProviderGroup } from './provider_words';

const GROUPS: readonly ProviderGroup[] = ['connected', 'here', 'other'];

interface ProviderListProps {
  /** null while they are being read. */
  cards: readonly ProviderCard[] | null;
  selected: string | null;
  select: (name: string) => void;
  agents: readonly AcpAgentInfo[];
  selectedAgent: string | null;
  selectAgent: (name: string) => void;
}

export function ProviderList(props: ProviderListProps): JSX.Element {
  const { cards, selected, select, selectedAgent, selectAgent } = props;
  const { trans } = useUi();
  const [query, setQuery] = useState('');
  const wanted = query.toLowerCase();
  const isFound = (one: { name: string; title: string }) =>
    `${one.name} ${one.title}`.toLowerCase().includes(wanted);
  const found = (cards ?? []).filter(isFound);
  const agents = props.agents.filter(isFound);
  return (
    <Finder hook="provider-search" label={trans.__('Search providers')} query={query} search={setQuery}>
      <div className="onyx-Rows" data-onyx="provider-list">
        {GROUPS.filter(group => found.some(card => groupOf(card) === group)).map(group => (
          <section key={group} aria-label={groupName(group, trans)}>
            <h3>{groupName(group, trans)}</h3>
            {found
              .filter(card => groupOf(card) === group)
              .map(card => (
                <button
                  key={card.name}
                  type="button"
                  className="onyx-Row"
                  data-onyx="provider"
                  data-provider={card.name}
                  data-state={card.state}
                  aria-current={card.name === selected}
                  onClick={() => select(card.name)}
                >
                  <span className="onyx-Row-name">{card.title}</span>
                  <span className="onyx-Row-state">{stateName(card.state, trans)}</span>
                  <span className="onyx-Row-about">{sourceName(card, trans)}</span>
                </button>
              ))}
          </section>
        ))}
        {agents.length > 0 && (
          <section aria-label={trans.__('Other agents')}>
            <h3>{trans.__('Other agents')}</h3>
            {agents.map(agent => (
              <button
                key={agent.name}
                type="button"
                className="onyx-Row"
                data-onyx="agent"
                data-agent={agent.name}
                aria-current={agent.name === selectedAgent}
                onClick={() => selectAgent(agent.name)}
              >
                <span className="onyx-Row-name">{agent.title}</span>
                <span className="onyx-Row-state">{agentState(agent, trans)}</span>
                <span className="onyx-Row-about">{agent.command}</span>
              </button>
            ))}
          </section>
        )}
      </div>
      <div className="onyx-Note" role="status">
        {cards === null && trans.__('Reading…')}
        {cards !== null && found.length + agents.length === 0 && trans.__('Nothing found.')}
      </div>
    </Finder>
  );
}
