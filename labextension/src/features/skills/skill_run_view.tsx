/** The runs of a skill: the open one with its progress, outcome and result, and earlier ones. */
import { memo, useEffect, useRef } from 'react';

import { formatRelative } from '../../shared/relative_time';
import { formatDuration } from '../chat/tool_words';
import type { SkillResult, SkillRunInfo } from '../../protocol/wire';
import { useNow } from '../../shared/hooks';
import { NotebookOutputs } from '../../shared/notebook_outputs';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';

interface SkillRunViewProps {
  run: SkillRunInfo;
  /** null while it is running, and until it is read. */
  result: SkillResult | null;
}

export const SkillRunView = memo(function SkillRunView({ run, result }: SkillRunViewProps): JSX.Element {
  const { trans, openFile } = useUi();
  const { copyPath } = run;
  const node = useRef<HTMLElement>(null);
  const isRunning = run.status === 'running';
  // After Run is pressed the progress must be visible, however long the form is.
  useEffect(() => {
    if (isRunning) {
      node.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [run.runId, isRunning]);
  return (
    <section ref={node} className="onyx-SkillRun" data-onyx="skill-run-view" data-status={run.status}>
      <div className="onyx-SkillRun-head" role="status">
        <span className="onyx-SkillRun-status">{statusName(run, trans)}</span>
        <Time run={run} />
        {copyPath && openFile && (
          <button
            type="button"
            className="onyx-Link"
            data-onyx="open-copy"
            onClick={() => openFile(copyPath)}
          >
            {trans.__('Open the executed copy')}
          </button>
        )}
      </div>
      {run.status === 'running' && <Progress run={run} />}
      {run.error && (
        <pre className="onyx-Source onyx-SkillRun-error" role="alert" data-onyx="skill-error">
          {run.error}
        </pre>
      )}
      {result && result.outputs.length > 0 && <NotebookOutputs outputs={result.outputs} />}
      {result && result.outputs.length === 0 && run.status === 'ok' && (
        <p className="onyx-Note">
          {trans.__('It ended without a result to show. The executed copy has all cells.')}
        </p>
      )}
    </section>
  );
});

function Progress({ run }: { run: SkillRunInfo }): JSX.Element {
  const { trans } = useUi();
  const { progress } = run;
  if (!progress) {
    return <p className="onyx-Note">{trans.__('The kernel is starting…')}</p>;
  }
  const { index, total, cell, line } = progress;
  return (
    <div className="onyx-Progress" data-onyx="skill-progress">
      <progress className="onyx-Bar" max={total} value={index - 1} aria-label={trans.__('Cells')} />
      <div>
        {trans.__('Cell %1 of %2', index, total)} · {cell}
      </div>
      {line && <code className="onyx-Progress-line">{line}</code>}
    </div>
  );
}

function Time({ run }: { run: SkillRunInfo }): JSX.Element {
  const isRunning = run.status === 'running';
  const now = useNow(1000, isRunning);
  const endMs = run.finishedAt ? Date.parse(run.finishedAt) : now;
  const duration = formatDuration(Math.max(0, endMs - Date.parse(run.startedAt)));
  return (
    <span className="onyx-SkillRun-time" title={run.startedAt}>
      {isRunning ? duration : `${duration} · ${formatRelative(run.startedAt)}`}
    </span>
  );
}

/** Earlier runs, one line each: parameters, outcome, when, by whom. */
export function SkillHistory(props: {
  runs: readonly SkillRunInfo[];
  currentId: string | null;
  open: (run: SkillRunInfo) => void;
}): JSX.Element {
  const { runs, currentId, open } = props;
  const { trans } = useUi();
  return (
    <section className="onyx-History" data-onyx="skill-history">
      <h3>{trans.__('Runs')}</h3>
      <ul>
        {runs.map(run => (
          <li key={run.runId}>
            <button
              type="button"
              className="onyx-Row"
              data-onyx="skill-history-run"
              data-status={run.status}
              aria-current={run.runId === currentId}
              onClick={() => open(run)}
            >
              <span className="onyx-History-values">{valuesOf(run, trans)}</span>
              <span className="onyx-History-facts" title={run.startedAt}>
                {[statusName(run, trans), formatRelative(run.startedAt), personOf(run, trans)]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function valuesOf(run: SkillRunInfo, trans: Ui['trans']): string {
  const values = Object.entries(run.parameters);
  const words = values.map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`
  );
  return words.join(', ') || trans.__('as it is');
}

/** `user:Ada` and `agent:main` in readable form; empty for one's own runs. */
function personOf(run: SkillRunInfo, trans: Ui['trans']): string {
  return run.by.startsWith('agent:') ? trans.__('by the agent') : '';
}

function statusName(run: SkillRunInfo, trans: Ui['trans']): string {
  const names: Record<SkillRunInfo['status'], string> = {
    running: trans.__('Running'),
    ok: trans.__('Done'),
    failed: trans.__('Failed'),
    stopped: trans.__('Stopped'),
    timeout: trans.__('Took too long'),
    interrupted: trans.__('Interrupted with the server')
  };
  return names[run.status];
}
