/** The panel of permanent grants: exactly what, for whom, since when, and a way to revoke each. */
import { closeIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef } from 'react';

import { formatRelative } from '../../shared/relative_time';
import type { GrantInfo } from '../../protocol/wire';
import { IconButton } from '../../shared/icon_button';
import { RefusalNote } from '../../shared/refusal_note';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';
import { Words } from '../../shared/words';

interface GrantsPanelProps {
  /** null while they are being read. */
  grants: readonly GrantInfo[] | null;
  revoked: GrantInfo | null;
  /** Why they could not be read. */
  problem: string | null;
  /** Why one could not be revoked. */
  refusal: string | null;
  dismissRefusal: () => void;
  online: boolean;
  open: () => void;
  left: () => void;
  revoke: (grant: GrantInfo) => void;
  close: () => void;
}

export function GrantsPanel(props: GrantsPanelProps): JSX.Element {
  const { grants, revoked, problem, online, open, left, revoke, close } = props;
  const { trans } = useUi();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.focus();
    open();
    return left;
  }, [open, left]);
  const onRevoke = (grant: GrantInfo) => {
    // The focused button disappears; keep the focus in the panel.
    panel.current?.focus();
    revoke(grant);
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
      {problem && (
        <div className="onyx-Problem" role="alert" data-onyx="grants-problem">
          <span>{problem}</span>
          <button type="button" className="onyx-Link" onClick={open}>
            {trans.__('Try again')}
          </button>
        </div>
      )}
      <RefusalNote reason={props.refusal} dismiss={props.dismissRefusal} hook="grants-refusal" />
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
