/**
 * What the agent is about to do: one line that opens to its steps. Pinned while it works, part of its answer
 * afterwards.
 */
import { checkIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { memo, useId, useState } from 'react';

import { isActive, isRun } from './conversation';
import type { Conversation } from './conversation';
import { planOf } from './plan';
import type { Plan, PlanStep } from './plan';
import { FoldLine } from '../../shared/fold_line';
import { useUi } from '../../shared/ui_context';

interface PlanViewProps {
  plan: Plan;
  isPinned?: boolean;
}

export const PlanView = memo(function PlanView({ plan, isPinned = false }: PlanViewProps): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const listId = useId();
  return (
    <section
      className={isPinned ? 'onyx-Plan onyx-mod-pinned' : 'onyx-Plan'}
      data-onyx={isPinned ? 'pinned-plan' : 'plan'}
      aria-label={trans.__('Plan')}
    >
      <FoldLine {...{ isOpen, setIsOpen, bodyId: listId }} hook="plan-line">
        <span className="onyx-Plan-count">{trans.__('%1 of %2', plan.done, plan.total)}</span>
        <span className="onyx-Plan-current">{plan.current || trans.__('Plan done')}</span>
      </FoldLine>
      <ol id={listId} hidden={!isOpen} className="onyx-Plan-steps">
        {plan.steps.map((step, index) => (
          <Step key={index} step={step} />
        ))}
      </ol>
    </section>
  );
});

function Step({ step }: { step: PlanStep }): JSX.Element {
  const { trans } = useUi();
  return (
    <li className="onyx-Plan-step" data-onyx="plan-step" data-status={step.status}>
      <span className="onyx-Plan-mark" role="img" aria-label={statusLabel(step, trans)}>
        {step.status === 'done' && <checkIcon.react tag="span" className="onyx-Icon" />}
        {step.status === 'doing' && <span className="onyx-Plan-dot" />}
      </span>
      <span className="onyx-Plan-text">{step.text}</span>
    </li>
  );
}

function statusLabel(step: PlanStep, trans: TranslationBundle): string {
  switch (step.status) {
    case 'pending':
      return trans.__('to do');
    case 'doing':
      return trans.__('under way');
    case 'done':
      return trans.__('done');
    case 'dropped':
      return trans.__('dropped');
  }
}

/** The plan of the active run, between the conversation and the input. */
export function PinnedPlan({ items }: { items: Conversation }): JSX.Element | null {
  const run = items.filter(isRun).filter(isActive).at(-1);
  const plan = run ? planOf(run) : null;
  return run && plan ? <PlanView key={run.runId} plan={plan} isPinned /> : null;
}
