/** The panel of permanent grants: exactly what, for whom, since when, and a way to revoke each. */
import { closeIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef } from 'react';

import { formatRelative } from '../../shared/relative_time';
import type { GrantInfo } from '../../protocol/wire';
import type { Grants } from './grants';
import { useSignals } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { ProblemNote, RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';
import { Words } from '../../shared/words';

export function GrantsPanel(props: { grants: Grants; close: () => void }): JSX.Element {
  const { grants: model, close } = props;
  const { grants, revoked, problem, client } = model;
  const { trans } = useUi();
  const panel = useRef<HTMLElement>(null);
  useSignals(model.changed, client.stateChanged);
  const online = client.state === 'open';
  const open = () => void model.open();
  useEffect(() => {
    panel.current?.focus();
    void model.open();
    return () => model.close();
  }, [model]);
  const onRevoke = (grant: GrantInfo) => {
    // The focused button disappears; keep the focus in the panel.
    panel.current?.focus();
    void model.revoke(grant);
  };
  return (
    <section
      ref={panel}
      className="onyx-Connect"
      data-onyx="grants-panel"
      aria-label={trans.__('Always allowed')}
      tabIndex={-1}
      onKeyDown={event => event.key === 'Escape' && close()}
    >
      <header>
        <h3>{trans.__('Always allowed')}</h3>
        <IconButton icon={closeIcon} label={trans.__('Close')} hook="grants-close" onClick={close} />
      </header>
      {grants && grants.length > 0 && (
        <p className="onyx-Grants-lead">
          {trans.__('Onyx does these without asking, in every session, until you revoke them.')}
        </p>
      )}
      <ProblemNote problem={problem} again={open} hook="grants-problem" />
      <RefusalNote reason={model.refusal} dismiss={() => model.dismissRefusal()} hook="grants-refusal" />
      {grants && grants.length === 0 && !problem && (
        <p className="onyx-Grants-lead" data-onyx="grants-empty">
          {trans.__('Nothing yet. What you allow with “Always” is listed here.')}
        </p>
      )}
      <ul className="onyx-Grants">
        {grants?.map(grant => (
          <GrantRow key={grant.id} grant={grant} disabled={!online} revoke={onRevoke} />
        ))}
      </ul>
      <div className="onyx-Note" role="status" data-onyx="grants-state">
        {revoked ? trans.__('Revoked. Onyx asks again from its next call on.') : ''}
        {!online && trans.__('You can revoke when the connection is back.')}
        {online && !grants && !problem && trans.__('Reading…')}
      </div>
    </section>
  );
}

interface GrantRowProps {
  grant: GrantInfo;
  disabled: boolean;
  revoke: (grant: GrantInfo) => void;
}

function GrantRow({ grant, disabled, revoke }: GrantRowProps): JSX.Element {
  const { trans } = useUi();
  const { summary, values } = partsOf(grant.what);
  const agent = grant.agentId === 'main' ? '' : trans.__('agent %1', grant.agentId);
  const facts = [grant.tool, agent, trans.__('by %1', grant.by), formatRelative(grant.createdAt)].filter(
    Boolean
  );
  return (
    <li className="onyx-Grant" data-onyx="grant" data-tool={grant.tool}>
      <div className="onyx-Grant-what">
        <Words text={summary} />
        {values && (
          <pre className="onyx-Source">
            <VisibleText text={values} />
          </pre>
        )}
      </div>
      <button
        type="button"
        className="onyx-Button"
        data-onyx="revoke"
        aria-label={trans.__('Revoke: %1', grant.what)}
        disabled={disabled}
        onClick={() => revoke(grant)}
      >
        {trans.__('Revoke')}
      </button>
      <div className="onyx-Grant-facts" title={grant.createdAt}>
        {facts.join(' · ')}
      </div>
    </li>
  );
}

/** Splits a grant into its words and the exact arguments, which may follow them as JSON. */
function partsOf(what: string): { summary: string; values: string } {
  const at = what.indexOf(' · {');
  if (at < 0) {
    return { summary: what, values: '' };
  }
  const values = what.slice(at + 3);
  try {
    return { summary: what.slice(0, at), values: JSON.stringify(JSON.parse(values), null, 2) };
  } catch {
    return { summary: what.slice(0, at), values };
  }
}
