/** The runs of a job, newest first, and the planned times that passed without one. */
import { useState } from 'react';

import type { HistoryEntry, JobInfo } from '../../protocol/wire';
import { useNow } from '../../shared/hooks';
import { formatRelative } from '../../shared/relative_time';
import { useUi } from '../../shared/ui_context';
import { AnswerText } from '../chat/answer_text';
import { firstLine, missedWords, outcomeName } from './job_words';

interface JobHistoryProps {
  job: JobInfo;
  /** null until read. */
  entries: readonly HistoryEntry[] | null;
  canRun: boolean;
  allowAndRun: (denied: readonly string[]) => void;
  openSession: (sessionKey: string) => void;
}

export function JobHistory(props: JobHistoryProps): JSX.Element {
  const { job, entries, canRun, allowAndRun, openSession } = props;
  const { trans } = useUi();
  useNow(10_000);
  return (
    <section className="onyx-History" data-onyx="job-history" aria-label={trans.__('Runs')}>
      <h3>{trans.__('Runs')}</h3>
      {entries === null && <p className="onyx-Note">{trans.__('Reading…')}</p>}
      {entries?.length === 0 && <p className="onyx-Note">{trans.__('It has not run yet.')}</p>}
      <ul>
        {entries?.map(entry => (
          <li key={`${entry.kind} ${entry.key ?? entry.at}`}>
            {entry.kind === 'missed' ? (
              <Missed entry={entry} />
            ) : (
              <RunEntry {...{ entry, openSession }}>
                <Denied {...{ job, entry, canRun, allowAndRun }} />
              </RunEntry>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Missed({ entry }: { entry: HistoryEntry }): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Run onyx-Run-missed" data-onyx="job-missed" title={entry.at}>
      <span className="onyx-Dot" data-outcome="missed" />
      <span className="onyx-Run-words">{missedWords(entry, trans)}</span>
      <span className="onyx-History-facts">{formatRelative(entry.until ?? entry.at)}</span>
    </div>
  );
}

interface RunEntryProps {
  entry: Pick<HistoryEntry, 'outcome' | 'text' | 'error' | 'hint' | 'denied' | 'sessionKey' | 'at'>;
  openSession: (sessionKey: string) => void;
  children?: React.ReactNode;
}

/** One run: a line that opens to everything it said. */
export function RunEntry({ entry, openSession, children }: RunEntryProps): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setOpen] = useState(false);
  const { outcome, text, error, hint, denied, sessionKey, at } = entry;
  const said = error ?? text ?? '';
  const words = (outcome === 'silent' ? '' : firstLine(said)) || outcomeName(outcome, trans);
  return (
    <>
      <button
        type="button"
        className="onyx-Row onyx-Run"
        data-onyx="job-run-entry"
        data-outcome={outcome ?? 'running'}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span
          className="onyx-Dot"
          data-outcome={denied?.length ? 'denied' : (outcome ?? 'running')}
          title={outcomeName(outcome, trans)}
        />
        <span className="onyx-Run-words">{words}</span>
        <span className="onyx-History-facts" title={new Date(at).toLocaleString()}>
          {formatRelative(at)}
        </span>
      </button>
      {isOpen && (
        <div className="onyx-Run-detail" data-onyx="job-run-detail">
          <div className="onyx-History-facts">
            {outcomeName(outcome, trans)} · {new Date(at).toLocaleString()}
          </div>
          {error && <div className="onyx-Problem">{[error, hint].filter(Boolean).join(' ')}</div>}
          {text && text !== error && outcome !== 'silent' && <AnswerText text={text} complete />}
          {sessionKey && (
            <button
              type="button"
              className="onyx-Link"
              data-onyx="job-open-session"
              onClick={() => openSession(sessionKey)}
            >
              {trans.__('Open the conversation')}
            </button>
          )}
        </div>
      )}
      {children}
    </>
  );
}

interface DeniedProps {
  job: JobInfo;
  entry: HistoryEntry;
  canRun: boolean;
  allowAndRun: (denied: readonly string[]) => void;
}

/** What nobody was there to allow, until the job may use it. */
function Denied({ job, entry, canRun, allowAndRun }: DeniedProps): JSX.Element | null {
  const { trans } = useUi();
  const denied = (entry.denied ?? []).filter(tool => !job.policy.includes(tool));
  if (denied.length === 0) {
    return null;
  }
  return (
    <div className="onyx-Run-denied" data-onyx="job-denied">
      <span>{trans.__('Nobody was there to allow %1.', denied.join(', '))}</span>
      <button
        type="button"
        className="onyx-Link"
        data-onyx="job-allow"
        disabled={!canRun}
        title={trans.__('This job may then use it whenever it runs')}
        onClick={() => allowAndRun(denied)}
      >
        {trans.__('Allow this job to use it, and run again')}
      </button>
    </div>
  );
}
