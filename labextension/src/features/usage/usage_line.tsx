/** One line below an answer: tokens and cost, with the rest in a tooltip. */
import { memo } from 'react';

import type { UsageInfo } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';
import { ABOUT, costOfAnswer, formatCount } from './usage_words';

interface UsageLineProps {
  usage: UsageInfo;
  model?: string;
}

export const UsageLine = memo(function UsageLine({ usage, model }: UsageLineProps): JSX.Element | null {
  const { trans } = useUi();
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens, estimated } = usage;
  if (inputTokens + outputTokens === 0) {
    return null;
  }
  const parts = [
    trans.__('%1 in', formatCount(inputTokens)),
    trans.__('%1 out', formatCount(outputTokens)),
    costOfAnswer(usage, trans)
  ];
  const details = [
    model,
    trans.__(
      '%1 tokens in, %2 of them from the cache',
      formatCount(inputTokens),
      formatCount(cachedTokens ?? 0)
    ),
    trans.__(
      '%1 tokens out, %2 of them thoughts',
      formatCount(outputTokens),
      formatCount(reasoningTokens ?? 0)
    ),
    trans.__('Cost: %1', costOfAnswer(usage, trans)),
    estimated && trans.__('Partly an estimate: the provider gave no figures for all of it')
  ].filter(Boolean);
  return (
    <div className="onyx-AnswerUsage" data-onyx="answer-usage" title={details.join('\n')}>
      {estimated && ABOUT}
      {parts.join(' · ')}
    </div>
  );
});
