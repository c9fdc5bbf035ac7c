import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentOptions } from '../src/features/acp/agent_options';
import { AgentOptionsView } from '../src/features/acp/agent_options_view';
import type { AcpOptions } from '../src/protocol/wire';
import { all, drawAnew, host, part, render } from './drawing';
import { Peer, Refusal, settle } from './peer';

drawAnew();

const offered = (model: string, fast = false): AcpOptions => ({
  agent: 'claude',
  options: [
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      value: model,
      choices: [
        { value: 'small', name: 'Small' },
        { value: 'large', name: 'Large' }
      ]
    },
    { id: 'fast', name: 'Fast', category: 'other', value: fast, choices: [] }
  ]
});

let peer: Peer;
let agentOptions: AgentOptions;
let sessionKey: string | null;

beforeEach(() => {
  peer = new Peer();
  peer.results = { 'acp.options': offered('small') };
  peer.connect();
  sessionKey = 's1';
  agentOptions = new AgentOptions(peer.client, () => sessionKey);
});
afterEach(() => {
  agentOptions.dispose();
  peer.client.dispose();
});

const draw = async (more: Partial<React.ComponentProps<typeof AgentOptionsView>> = {}) => {
  await render(
    <AgentOptionsView {...{ agentOptions, sessionKey }} model="acp/claude" running={false} online {...more} />
  );
  await act(settle);
};
const fields = () => all('agent-option') as unknown as [HTMLSelectElement, HTMLInputElement];
const choose = (value: string) =>
  act(async () => {
    fields()[0].value = value;
    fields()[0].dispatchEvent(new Event('change', { bubbles: true }));
  });

describe('what another agent offers', () => {
  it('is not there before the agent has started, and the strip says so', async () => {
    sessionKey = null;
    await draw();
    expect(peer.askedFor('acp.options')).toEqual([]);
    expect(part('agent-not-started')!.textContent).toContain('claude starts with your next message;');
    peer.results['acp.options'] = { options: [] };
    sessionKey = 's1';
    await draw({ running: true });
    expect(part('agent-not-started')!.textContent).toBe('Starting claude…');
  });

  it('appears once it is at work, and for no other agent', async () => {
    await draw();
    expect(all('agent-option')).toHaveLength(2);
    expect(host.textContent).toBe('ModelSmallLargeFast');
    expect([fields()[0].value, fields()[1].checked]).toEqual(['small', false]);
    await draw({ model: 'acp/codex' });
    expect(part('agent-not-started')).not.toBeNull();
  });

  it('is chosen at the agent, which says what is chosen then', async () => {
    peer.results['acp.setOption'] = offered('large');
    await draw();
    await choose('large');
    expect(peer.askedFor('acp.setOption')).toEqual([{ sessionKey: 's1', option: 'model', value: 'large' }]);
    expect(fields()[0].value).toBe('large');
    peer.results['acp.setOption'] = offered('large', true);
    await act(async () => fields()[1].click());
    expect(peer.askedFor('acp.setOption')[1]).toMatchObject({ option: 'fast', value: true });
    expect(fields()[1].checked).toBe(true);
  });

  it('stays as it was if the agent refuses, and the reason is shown', async () => {
    peer.results['acp.setOption'] = new Refusal(-32000, 'Large needs another plan.');
    await draw();
    await choose('large');
    expect(fields()[0].value).toBe('small');
    expect(part('agent-option-refusal')!.textContent).toContain('Large needs another plan.');
  });

  it('waits for the agent before another choice', async () => {
    await draw();
    await choose('large');
    expect(fields().map(field => field.disabled)).toEqual([true, true]);
  });
});

it('an agent that offers nothing shows nothing', async () => {
  peer.results['acp.options'] = { agent: 'claude', options: [] };
  await draw();
  expect(host.textContent).toBe('');
});
