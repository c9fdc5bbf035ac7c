/** The heartbeat of an agent: whether and when it looks after HEARTBEAT.md, and what it said. */
import { useEffect, useState } from 'react';

import type { HeartbeatState } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';
import { lockedText } from '../settings/setting_field';
import type { Settings } from '../settings/settings';
import { RunEntry } from './job_history';
import { durationWords } from './job_words';
import type { Jobs } from './jobs';

interface HeartbeatDetailProps {
  jobs: Jobs;
  settings: Settings;
  state: HeartbeatState;
  online: boolean;
  openTasks: (agentId: string) => void;
  openSession: (sessionKey: string) => void;
}

export function HeartbeatDetail(props: HeartbeatDetailProps): JSX.Element {
  const { jobs, state, online, openTasks, openSession } = props;
  const { trans } = useUi();
  const { agentId, agentName, intervalMs, nextAt } = state;
  const isIdle = !state.enabled || !state.hasTasks;
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={() => jobs.choose(null)}>
          {trans.__('← All jobs')}
        </button>
        <h3>{trans.__('Heartbeat of %1', agentName)}</h3>
        <p>
          {trans.__(
            'Onyx looks after what HEARTBEAT.md says, every %1, and speaks up only if there is something to say.',
            durationWords(intervalMs, trans)
          )}
        </p>
        <div className="onyx-Detail-facts" data-onyx="heartbeat-state">
          {state.running && <span>{trans.__('looking now')}</span>}
          {!state.running && !isIdle && nextAt && (
            <span>{trans.__('next %1', new Date(nextAt).toLocaleString())}</span>
          )}
          {state.activeHours && <span>{trans.__('active %1', state.activeHours)}</span>}
          {!state.hasTasks && (
            <span>{trans.__('HEARTBEAT.md holds nothing to look after, so no model is asked')}</span>
          )}
        </div>
      </header>
      {state.isCut && (
        <div className="onyx-Problem" data-onyx="heartbeat-cut">
          {trans.__('HEARTBEAT.md is too long: only its first 4,000 characters are looked after.')}
        </div>
      )}
      <div className="onyx-Job-actions">
        <button
          type="button"
          className="onyx-Button"
          data-onyx="heartbeat-now"
          disabled={!online || !jobs.runsHere || isIdle || state.running}
          onClick={() => void jobs.wake(agentId)}
        >
          {state.running ? trans.__('Looking…') : trans.__('Look now')}
        </button>
        <button
          type="button"
          className="onyx-Button"
          data-onyx="heartbeat-file"
          onClick={() => openTasks(agentId)}
        >
          {trans.__('Open HEARTBEAT.md')}
        </button>
      </div>
      <Switches {...props} />
      <section className="onyx-History" data-onyx="heartbeat-history" aria-label={trans.__('What it said')}>
        <h3>{trans.__('What it said')}</h3>
        {jobs.beats === null && <p className="onyx-Note">{trans.__('Reading…')}</p>}
        {jobs.beats?.length === 0 && <p className="onyx-Note">{trans.__('It has not looked yet.')}</p>}
        <ul>
          {jobs.beats?.map(entry => (
            <li key={entry.at}>
              <RunEntry {...{ entry, openSession }} />
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** Of all agents: what differs for one stands in onyx.json. */
function Switches({ settings, state, online }: HeartbeatDetailProps): JSX.Element {
  const { trans } = useUi();
  const switches: Array<[string, boolean, string]> = [
    ['enabled', state.enabled, trans.__('Look by itself')],
    ['quietMode', state.quietMode, trans.__('Quiet: what it says waits here')]
  ];
  const isOwn = (key: string) => state.ownKeys.includes(key);
  return (
    <div className="onyx-Switches">
      {switches.map(([key, value, label]) => (
        <Switch
          key={key}
          {...{ settings, label, value }}
          name={`heartbeat.${key}`}
          disabled={!online || isOwn(key)}
        />
      ))}
      {switches.some(([key]) => isOwn(key)) && (
        <span className="onyx-Note">{trans.__('This agent has settings of its own, in onyx.json.')}</span>
      )}
    </div>
  );
}

interface SwitchProps {
  settings: Settings;
  /** The key's path in onyx.json. */
  name: string;
  label: string;
  value: boolean;
  disabled: boolean;
}

/** Moves at once, and back if it was refused. */
function Switch({ settings, name, label, value, disabled }: SwitchProps): JSX.Element {
  const { trans } = useUi();
  const [shown, setShown] = useState(value);
  useEffect(() => setShown(value), [value, settings.refusal]);
  const locked = settings.lockedBy(name);
  return (
    <label title={locked ? lockedText(locked, trans) : undefined}>
      <input
        type="checkbox"
        data-onyx="heartbeat-switch"
        data-key={name}
        checked={shown}
        disabled={disabled || locked !== null}
        onChange={event => {
          setShown(event.target.checked);
          void settings.set(name, event.target.checked);
        }}
      />
      {label}
    </label>
  );
}
