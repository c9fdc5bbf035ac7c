/** The usage panel: the budget, a chart by day, and tables by model and turn. */
import { closeIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';

import type { UsageBudget, UsageCell, UsageReport, UsageSession, UsageSum } from '../../protocol/wire';
import { useSignals } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { useUi } from '../../shared/ui_context';
import { PERIODS } from './usage';
import type { Period, Usage } from './usage';
import { UsageChart } from './usage_chart';
import { budgetTitle, costOfSum, formatBudget, roleName, tokensOfSum } from './usage_words';

interface UsagePanelProps {
  usage: Usage;
  close: () => void;
}

export function UsagePanel({ usage, close }: UsagePanelProps): JSX.Element {
  const { trans } = useUi();
  const panel = useRef<HTMLElement>(null);
  useSignals(usage.changed);
  useEffect(() => {
    panel.current?.focus();
    void usage.open();
    return () => usage.close();
  }, [usage]);
  const { report, problem, period } = usage;
  return (
    <section
      ref={panel}
      className="onyx-Connect onyx-UsagePanel"
      data-onyx="usage-panel"
      aria-label={trans.__('Usage')}
      tabIndex={-1}
      onKeyDown={event => event.key === 'Escape' && close()}
    >
      <header>
        <h3>{trans.__('Usage')}</h3>
        <IconButton icon={closeIcon} label={trans.__('Close')} hook="usage-close" onClick={close} />
      </header>
      {problem && (
        <div className="onyx-Problem" role="alert" data-onyx="usage-problem">
          <span>{problem}</span>
          <button type="button" className="onyx-Link" onClick={() => void usage.load()}>
            {trans.__('Try again')}
          </button>
        </div>
      )}
      {report?.budget.map(state => (
        <BudgetBar key={state.name} state={state} />
      ))}
      {report && <PeriodPicker period={period} choose={chosen => usage.choose(chosen)} />}
      {report && <Report report={report} period={period} />}
      <div className="onyx-Note" role="status">
        {!report && !problem && trans.__('Reading…')}
      </div>
    </section>
  );
}

function BudgetBar({ state }: { state: UsageBudget }): JSX.Element {
  const { trans } = useUi();
  const { percent, resetsAt, unpricedCalls } = state;
  const level = percent >= 100 ? 'reached' : percent >= 80 ? 'near' : 'free';
  const words = formatBudget(state, trans);
  const until = resetsAt ? trans.__('until %1', new Date(resetsAt).toLocaleString()) : '';
  return (
    <div className="onyx-Budget" data-onyx="usage-budget" data-budget={state.name} data-level={level}>
      <span>
        <strong>{budgetTitle(state, trans)}</strong> {words}
      </span>
      <progress className="onyx-Bar" value={Math.min(percent, 100)} max={100} aria-label={words} />
      {level === 'reached' && (
        <span>
          {trans.__('The budget is used up: paid models are not used')} {until}
        </span>
      )}
      {level === 'near' && <span>{trans.__('Nearly used up')}</span>}
      {unpricedCalls > 0 && (
        <span className="onyx-Budget-unpriced">
          {trans._n(
            '%1 call of unknown cost is left out',
            '%1 calls of unknown cost are left out',
            unpricedCalls
          )}
        </span>
      )}
    </div>
  );
}

function PeriodPicker({ period, choose }: { period: Period; choose: (period: Period) => void }): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-UsagePeriods" role="group" aria-label={trans.__('Period')}>
      {PERIODS.map(days => (
        <button
          key={days}
          type="button"
          className="onyx-Link"
          data-onyx="usage-period"
          aria-pressed={days === period}
          onClick={() => choose(days)}
        >
          {days === 1 ? trans.__('Today') : trans.__('%1 days', days)}
        </button>
      ))}
    </div>
  );
}

function Report({ report, period }: { report: UsageReport; period: Period }): JSX.Element {
  const { trans } = useUi();
  const { today, days, cells, session } = report;
  return (
    <>
      {days.length === 0 ? (
        <p className="onyx-Grants-lead" data-onyx="usage-empty">
          {trans.__('No model was used in this time.')}
        </p>
      ) : (
        <>
          <UsageChart {...{ today, period, days }} />
          <CellTable cells={cells} />
        </>
      )}
      {session && session.total.calls > 0 && <SessionTable session={session} />}
    </>
  );
}

function CellTable({ cells }: { cells: readonly UsageCell[] }): JSX.Element {
  const { trans } = useUi();
  const rows = [...cells].sort((left, right) => tokens(right.total) - tokens(left.total));
  return (
    <Table caption={trans.__('By model')} hook="usage-cells">
      {rows.map(({ model, role, total }) => (
        <Row key={`${role} ${model}`} total={total}>
          {model} <span className="onyx-Usage-role">{roleName(role, trans)}</span>
        </Row>
      ))}
    </Table>
  );
}

/** The newest turn first. */
function SessionTable({ session }: { session: UsageSession }): JSX.Element {
  const { trans } = useUi();
  return (
    <Table caption={trans.__('This conversation')} hook="usage-session">
      <Row total={session.total}>{trans.__('All')}</Row>
      {[...session.turns].reverse().map(({ runId, steps, total }) => (
        <Row
          key={runId}
          total={total}
          title={steps
            .map(step => `${step.model} (${roleName(step.role, trans)}): ${costOfSum(step.total, trans)}`)
            .join('\n')}
        >
          {new Date(steps[0].at).toLocaleString()} · {trans._n('%1 step', '%1 steps', steps.length)}
        </Row>
      ))}
    </Table>
  );
}

function Table(props: { caption: string; hook: string; children: ReactNode }): JSX.Element {
  const { trans } = useUi();
  return (
    <table className="onyx-UsageTable" data-onyx={props.hook}>
      <caption>{props.caption}</caption>
      <thead className="onyx-UsageTable-head">
        <tr>
          <th scope="col">{trans.__('What')}</th>
          <th scope="col">{trans.__('Tokens')}</th>
          <th scope="col">{trans.__('Cost')}</th>
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  );
}

function Row(props: { total: UsageSum; title?: string; children: ReactNode }): JSX.Element {
  const { trans } = useUi();
  return (
    <tr title={props.title}>
      <th scope="row">{props.children}</th>
      <td>{tokensOfSum(props.total)}</td>
      <td>{costOfSum(props.total, trans)}</td>
    </tr>
  );
}

const tokens = ({ inputTokens, outputTokens }: UsageSum): number => inputTokens + outputTokens;
