/** What the settings say about a provider. */
import type { AcpAgentInfo, ProviderCard, ProviderTest } from '../../protocol/wire';
import type { Ui } from '../../shared/ui_context';

type Trans = Ui['trans'];
export type ProviderGroup = 'connected' | 'here' | 'other';

/** Where the list shows it: those in use first. */
export function groupOf(card: ProviderCard): ProviderGroup {
  if (card.state === 'not_configured' || card.state === 'locked') {
    return card.ownServer ? 'here' : 'other';
  }
  return 'connected';
}

export function groupName(group: ProviderGroup, trans: Trans): string {
  switch (group) {
    case 'connected':
      return trans.__('Set up');
    case 'here':
      return trans.__('On this machine');
    case 'other':
      return trans.__('Not set up');
  }
}

/** The state in a word or two. */
export function stateName(state: ProviderCard['state'], trans: Trans): string {
  switch (state) {
    case 'connected':
      return trans.__('connected');
    case 'ready':
      return trans.__('not tested');
    case 'failing':
      return trans.__('failing');
    case 'locked':
      return trans.__('not allowed');
    case 'not_configured':
      return '';
  }
}

/** How it was found, in a few words for the list. */
export function sourceName(card: ProviderCard, trans: Trans): string {
  if (card.subscription) {
    return card.subscription.state === 'signed_in'
      ? (card.subscription.account ?? trans.__('signed in'))
      : '';
  }
  switch (card.key) {
    case 'environment':
    case 'reference':
      return trans.__('key from %1', card.variable ?? trans.__('the environment'));
    case 'store':
      return trans.__('stored key');
    case 'file':
      return trans.__('key in onyx.json');
    default:
      if (card.baseUrl) {
        return card.baseUrl;
      }
      return card.ownServer && card.state === 'not_configured' ? trans.__('not running') : '';
  }
}

/** Whether an agent can be used. */
export function agentState(agent: AcpAgentInfo, trans: Trans): string {
  if (agent.installed) {
    return trans.__('installed');
  }
  return agent.configured ? trans.__('not found') : trans.__('not installed');
}

/** What a test found out, in one line. */
export function testWords(test: ProviderTest, trans: Trans): string {
  if (!test.ok) {
    return [test.message, test.hint].filter(Boolean).join(' ');
  }
  const ms = test.totalMs ?? 0;
  const took = ms < 1000 ? trans.__('%1 ms', ms) : trans.__('%1 s', (ms / 1000).toFixed(1));
  const cost = test.costUsd == null ? trans.__('cost unknown') : formatCost(test.costUsd);
  return trans.__(
    '%1 answered in %2: %3 tokens in, %4 out, %5.',
    test.model,
    took,
    test.inputTokens ?? 0,
    test.outputTokens ?? 0,
    cost
  );
}

/** Small sums keep two significant digits: `$0.00012`. */
function formatCost(usd: number): string {
  return `$${usd >= 0.01 || usd === 0 ? usd.toFixed(2) : Number(usd.toPrecision(2)).toFixed(6).replace(/0+$/, '')}`;
}
