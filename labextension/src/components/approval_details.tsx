/** Exactly what would run: the command and its folder, the change to a cell, or the arguments as they are. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ApprovalInfo } from '../protocol/wire';
import { DiffView } from './diff_view';
import { useUi } from './ui_context';

const OWN_FIELDS = new Set(['sessionScope', 'why']);

export function ApprovalDetails({ approval }: { approval: ApprovalInfo }): JSX.Element {
  const { trans } = useUi();
  const { details } = approval;
  switch (approval.toolName) {
    case 'exec':
      return (
        <>
          <Source text={string(details.command)} label={trans.__('Command')} />
          <Where label={trans.__('in')} text={string(details.cwd) || '.'} />
        </>
      );
    case 'notebook_insert_cell':
      return (
        <>
          <DiffView before="" after={string(details.source)} />
          <Where label={trans.__('in')} text={string(details.path)} extra={placeOf(details, trans)} />
        </>
      );
    case 'notebook_edit_cell':
      return (
        <>
          <DiffView before={string(details.oldSource)} after={string(details.newSource)} />
          <Where label={trans.__('in')} text={string(details.path)} />
        </>
      );
    case 'notebook_run_cell':
      return (
        <>
          <Source text={string(details.source)} label={trans.__('Code')} />
          <Where label={trans.__('in')} text={string(details.path)} />
        </>
      );
    case 'memory_write':
      return (
        <>
          <DiffView before="" after={string(details.content)} />
          <Where label={trans.__('in')} text={string(details.path)} />
        </>
      );
    default:
      return <Source text={JSON.stringify(argumentsOf(details), null, 2)} label={trans.__('Arguments')} />;
  }
}

function Source({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <pre className="onyx-Source" data-onyx="approval-source" tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}

function Where({ label, text, extra }: { label: string; text: string; extra?: string }): JSX.Element {
  return (
    <div className="onyx-Where" data-onyx="approval-where">
      {label} <code>{text}</code>
      {extra ? ` · ${extra}` : ''}
    </div>
  );
}

function placeOf(details: Record<string, unknown>, trans: TranslationBundle): string {
  const after = string(details.after);
  if (after) {
    return trans.__('after %1', after);
  }
  return details.afterCellId ? '' : trans.__('at the end');
}

function argumentsOf(details: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).filter(([key]) => !OWN_FIELDS.has(key)));
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
