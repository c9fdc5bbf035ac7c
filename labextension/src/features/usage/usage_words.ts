/** What model calls used and cost, in words. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { UsageBudget, UsageInfo, UsageSum } from '../../protocol/wire';

const COUNT = new Intl.NumberFormat('en-US');

export const formatCount = (count: number): string => COUNT.format(count);

/** Cents at least, and two digits of what is smaller. */
export function formatDollars(dollars: number): string {
  if (dollars === 0 || dollars >= 0.1) {
    return `$${dollars.toFixed(2)}`;
  }
  const digits = Math.min(8, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(Math.max(2, digits))}`;
}

/** What an answer cost: a price, who paid, or that nobody knows. */
export function costOfAnswer(usage: UsageInfo, trans: TranslationBundle): string {
  const { costUsd, plan, costIsPartial } = usage;
  if (costUsd === null || costUsd === undefined) {
    return plan ? trans.__('plan') : trans.__('cost unknown');
  }
  const rest = [plan && trans.__('plan'), costIsPartial && trans.__('unknown cost')];
  const cost = costUsd > 0 ? formatDollars(costUsd) : rest.some(Boolean) ? '' : trans.__('no cost');
  return [cost, ...rest].filter(Boolean).join(' + ');
}

/** What stands before figures of which some are estimates. */
export const ABOUT = '≈ ';

/** The same for a sum of calls, in a column of costs. */
export function costOfSum(sum: UsageSum, trans: TranslationBundle): string {
  const { costUsd, unpricedCalls, planCalls, estimatedCalls } = sum;
  const parts = [
    costUsd > 0 && `${estimatedCalls > 0 ? ABOUT : ''}${formatDollars(costUsd)}`,
    planCalls > 0 && trans.__('plan'),
    unpricedCalls > 0 && trans.__('unknown')
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(' + ') : trans.__('no cost');
}

/** Input and output together, in a column of tokens. */
export function tokensOfSum({ inputTokens, outputTokens, estimatedCalls }: UsageSum): string {
  return `${estimatedCalls > 0 ? ABOUT : ''}${formatCount(inputTokens + outputTokens)}`;
}

/** How much of a budget is used: "$4.10 of $5.00". */
export function formatBudget({ name, used, limit }: UsageBudget, trans: TranslationBundle): string {
  return name.endsWith('Usd')
    ? trans.__('%1 of %2', formatDollars(used), formatDollars(limit))
    : trans.__('%1 of %2 tokens', formatCount(used), formatCount(limit));
}

export function budgetTitle({ name }: UsageBudget, trans: TranslationBundle): string {
  return name.startsWith('day') ? trans.__('Today') : trans.__('This conversation');
}

export function roleName(role: string, trans: TranslationBundle): string {
  switch (role) {
    case 'default':
      return trans.__('answers');
    case 'subagent':
      return trans.__('sub-agents');
    case 'consolidation':
      return trans.__('remembering');
    case 'compaction':
      return trans.__('summaries');
    case 'embedding':
      return trans.__('embeddings');
    default:
      return role;
  }
}
