/** Exactly what would run: the command and its folder, the change to a cell, or the arguments as they are. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ApprovalInfo } from '../protocol/wire';
import { DiffView } from './diff_view';
import { useUi } from './ui_context';

const OWN_FIELDS = new Set(['sessionScope', 'alwaysScope', 'alwaysBlocked', 'why']);

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
          <Where label={trans.__('in')} text={string(details.path)} extra={linesOf(details.source, trans)} />
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
          <Where label={trans.__('in')} text={string(details.path)} extra={linesOf(details.source, trans)} />
        </>
      );
    case 'write':
    case 'edit':
      return (
        <>
          {typeof details.diff === 'string' ? (
            <Source text={details.diff} label={trans.__('Change')} />
          ) : (
            <DiffView
              before={string(details.oldText)}
              after={string(details.content) || string(details.newText)}
            />
          )}
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

/** How long the code is: so that one knows, where it has to be scrolled, that there is more. */
function linesOf(source: unknown, trans: TranslationBundle): string {
  return trans._n('%1 line', '%1 lines', string(source).split('\n').length);
}

function argumentsOf(details: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).filter(([key]) => !OWN_FIELDS.has(key)));
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
