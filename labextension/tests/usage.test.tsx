import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Usage } from '../src/features/usage/usage';
import { lastDays } from '../src/features/usage/usage_chart';
import { UsageLine } from '../src/features/usage/usage_line';
import { UsagePanel } from '../src/features/usage/usage_panel';
import { costOfAnswer, costOfSum, formatDollars, tokensOfSum } from '../src/features/usage/usage_words';
import type { UsageInfo, UsageReport, UsageSum } from '../src/protocol/wire';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import { Peer } from './peer';

// JupyterLab's components do not load outside of a browser; of them only an icon is used here.
vi.mock('@jupyterlab/ui-components', () => ({ closeIcon: { react: () => null } }));

const trans = nullTranslator.load('onyx_jupyter');
const ui = { trans } as unknown as Ui;
const info = (values: Partial<UsageInfo> = {}): UsageInfo => ({
  ...{ inputTokens: 1204, outputTokens: 312, cachedTokens: 1000, costUsd: 0.0041, reasoningTokens: 12 },
  ...values
});
const sum = (values: Partial<UsageSum> = {}): UsageSum => ({
  ...{ calls: 1, inputTokens: 1000, outputTokens: 234, cachedTokens: 0, reasoningTokens: 0 },
  ...{ costUsd: 0.5, unpricedCalls: 0, planCalls: 0, freeCalls: 0, estimatedCalls: 0 },
  ...values
});
const report = (values: Partial<UsageReport> = {}): UsageReport => ({
  today: '2026-03-14',
  days: [
    { day: '2026-03-12', total: sum({ costUsd: 1 }) },
    { day: '2026-03-14', total: sum() }
  ],
  cells: [
    { role: 'consolidation', model: 'openai/small', total: sum({ inputTokens: 1 }) },
    { role: 'default', model: 'openai/large', total: sum() }
  ],
  budget: [],
  session: null,
  ...values
});

let root: Root;
let host: HTMLElement;
const draw = (element: JSX.Element) =>
  act(async () => root.render(<UiProvider value={ui}>{element}</UiProvider>));
const hooks = (name: string) => [...host.querySelectorAll<HTMLElement>(`[data-onyx=${name}]`)];
const rows = (name: string) =>
  [...host.querySelectorAll(`[data-onyx=${name}] tbody tr`)].map(row =>
    [...row.children].map(cell => cell.textContent)
  );

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
});

describe('the line below an answer', () => {
  it('says tokens and cost, and the rest in its tooltip', async () => {
    await draw(<UsageLine usage={info()} model="openai/large" />);
    expect(host.textContent).toBe('1,204 in · 312 out · $0.0041');
    const { title } = hooks('answer-usage')[0];
    expect(title).toContain('openai/large');
    expect(title).toContain('1,000 of them from the cache');
    expect(title).toContain('12 of them thoughts');
  });

  it('is not there if no model answered', async () => {
    await draw(<UsageLine usage={info({ inputTokens: 0, outputTokens: 0 })} />);
    expect(host.textContent).toBe('');
  });

  it('marks what is estimated, and says why', async () => {
    await draw(<UsageLine usage={info({ estimated: true })} />);
    expect(host.textContent).toBe('≈ 1,204 in · 312 out · $0.0041');
    expect(hooks('answer-usage')[0].title).toContain('an estimate');
  });

  it.each<[Partial<UsageInfo>, string]>([
    [{ costUsd: null }, 'cost unknown'],
    [{ costUsd: 0 }, 'no cost'],
    [{ costUsd: null, plan: true }, 'plan'],
    [{ costUsd: 0.5, plan: true }, '$0.50 + plan'],
    [{ costUsd: 0.5, costIsPartial: true }, '$0.50 + unknown cost'],
    [{ costUsd: 0, costIsPartial: true }, 'unknown cost']
  ])('never takes an unknown price or a subscription for zero: %o', (values, words) => {
    expect(costOfAnswer(info(values), trans)).toBe(words);
  });
});

describe('sums', () => {
  it('say what they leave out', () => {
    expect(costOfSum(sum({ unpricedCalls: 2 }), trans)).toBe('$0.50 + unknown');
    expect(costOfSum(sum({ costUsd: 0, planCalls: 1 }), trans)).toBe('plan');
    expect(costOfSum(sum({ costUsd: 0, freeCalls: 1 }), trans)).toBe('no cost');
    expect(costOfSum(sum({ unpricedCalls: 1, estimatedCalls: 1 }), trans)).toBe('≈ $0.50 + unknown');
    expect(costOfSum(sum({ costUsd: 0, unpricedCalls: 1, estimatedCalls: 1 }), trans)).toBe('unknown');
    expect(tokensOfSum(sum({ estimatedCalls: 1 }))).toBe('≈ 1,234');
  });

  it.each([
    [12.345, '$12.35'],
    [0.1, '$0.10'],
    [0.0123, '$0.012'],
    [0.0000041, '$0.0000041'],
    [0, '$0.00']
  ])('of %d dollars are %s', (dollars, words) => {
    expect(formatDollars(dollars)).toBe(words);
  });

  it('have a place for each day, also across a month', () => {
    expect(lastDays('2026-03-02', 3)).toEqual(['2026-02-28', '2026-03-01', '2026-03-02']);
  });
});

describe('the panel', () => {
  let peer: Peer;
  beforeEach(() => {
    peer = new Peer();
    peer.connect();
  });
  afterEach(() => peer.client.dispose());
  const open = (values: Partial<UsageReport> = {}) => {
    peer.results['usage.get'] = report(values);
    return draw(<UsagePanel usage={new Usage(peer.client, () => 's1')} close={() => undefined} />);
  };

  it('shows a bar and a row for each day, and what each model was used for', async () => {
    await open();
    expect(peer.askedFor('usage.get')).toEqual([{ days: 7, sessionKey: 's1' }]);
    const bars = [...host.querySelectorAll('rect')].map(bar => Number(bar.getAttribute('height')));
    expect(bars).toEqual([0, 0, 0, 0, 64, 0, 32]);
    expect(rows('usage-days')).toEqual([
      ['Today', '1,234', '$0.50'],
      ['2026-03-12', '1,234', '$1.00']
    ]);
    expect(rows('usage-cells').map(row => row[0])).toEqual([
      'openai/large answers',
      'openai/small remembering'
    ]);
  });

  it('asks for another period, and again when something was used', async () => {
    await open();
    await act(async () => hooks('usage-period')[2].click());
    expect(peer.askedFor('usage.get').at(-1)?.days).toBe(30);
    vi.useFakeTimers();
    peer.emit('usage.changed', {});
    await act(async () => void (await vi.advanceTimersByTimeAsync(1000)));
    vi.useRealTimers();
    expect(peer.askedFor('usage.get')).toHaveLength(3);
  });

  it('says when nothing was used', async () => {
    await open({ days: [], cells: [] });
    expect(hooks('usage-empty')).toHaveLength(1);
    expect(host.querySelector('table')).toBeNull();
  });

  it('shows each budget with how near it is, and what it leaves out', async () => {
    const budget = (values: object) => ({
      name: 'dayUsd',
      limit: 5,
      used: 4,
      percent: 80,
      unpricedCalls: 0,
      ...values
    });
    await open({
      budget: [
        budget({ used: 1, percent: 20 }),
        budget({ name: 'sessionUsd', unpricedCalls: 2 }),
        budget({ name: 'dayTokens', used: 5, percent: 100 })
      ] as UsageReport['budget']
    });
    expect(hooks('usage-budget').map(bar => bar.dataset.level)).toEqual(['free', 'near', 'reached']);
    const [first, second, third] = hooks('usage-budget').map(bar => bar.textContent);
    expect(first).toBe('Today $1.00 of $5.00');
    expect(second).toBe('This conversation $4.00 of $5.00Nearly used up2 calls of unknown cost are left out');
    expect(third).toContain('5 of 5 tokens');
    expect(third).toContain('paid models are not used');
  });

  it('shows the turns of the conversation in front, the newest first', async () => {
    const step = (at: string) => ({ at, role: 'default', model: 'openai/large', total: sum() });
    await open({
      session: {
        total: sum({ costUsd: 1.5 }),
        turns: [
          { runId: 'a', total: sum(), steps: [step('2026-03-14T12:00:00Z')] },
          {
            runId: 'b',
            total: sum({ costUsd: 1 }),
            steps: [step('2026-03-14T13:00:00Z'), step('2026-03-14T13:01:00Z')]
          }
        ]
      }
    });
    expect(rows('usage-session').map(row => row[2])).toEqual(['$1.50', '$1.00', '$0.50']);
    expect(rows('usage-session')[1][0]).toContain('2 steps');
  });
});
