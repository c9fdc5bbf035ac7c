/** Exactly what would run: the command and its folder, the change to a cell, or the raw arguments. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { withMarks } from '../../shared/visible_characters';
import type { ApprovalInfo } from '../../protocol/wire';
import { CellList } from '../../shared/cell_list';
import { DiffView, UnifiedDiffView } from '../../shared/diff_view';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

const OWN_FIELDS = new Set([
  'sessionScope',
  'alwaysScope',
  'alwaysBlocked',
  'mustAsk',
  'why',
  'cautions',
  'commands'
]);

export function ApprovalDetails({ approval }: { approval: ApprovalInfo }): JSX.Element {
  const { commands } = approval.details;
  return (
    <>
      {Array.isArray(commands) && commands.length > 0 && <Commands commands={commands.map(String)} />}
      <Details approval={approval} />
    </>
  );
}

/** The shell commands in cells, which are easy to miss among the other lines. */
function Commands({ commands }: { commands: readonly string[] }): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Commands" data-onyx="cell-commands">
      <div>
        {trans._n('It runs this command in a shell:', 'It runs these commands in a shell:', commands.length)}
      </div>
      <Source text={commands.join('\n')} label={trans.__('Shell commands')} />
    </div>
  );
}

function Details({ approval }: { approval: ApprovalInfo }): JSX.Element {
  const { trans } = useUi();
  const { details } = approval;
  if (approval.toolName.startsWith('skill_')) {
    return <SkillUse details={details} />;
  }
  switch (approval.toolName) {
    case 'exec':
      return (
        <>
          <Source text={string(details.command)} label={trans.__('Command')} />
          <Where
            label={details.background === true ? trans.__('in the background, in') : trans.__('in')}
            text={string(details.cwd) || '.'}
            extra={linesOf(details.command, trans)}
          />
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
          <Where
            label={trans.__('in')}
            text={string(details.path)}
            extra={linesOf(details.newSource, trans)}
          />
        </>
      );
    case 'notebook_delete_cell':
      return (
        <>
          <CellList cells={details.cells} sign="removed" />
          <Where label={trans.__('in')} text={string(details.path)} />
        </>
      );
    case 'notebook_move_cell':
      return (
        <>
          <Source text={string(details.source)} label={trans.__('Cell')} />
          <Where label={trans.__('in')} text={string(details.path)} />
        </>
      );
    case 'notebook_create':
      return (
        <>
          <CellList cells={details.cells} sign="added" />
          <Where
            label={details.run === true ? trans.__('opens and runs at once, as') : trans.__('as')}
            text={string(details.path)}
            extra={details.kernel ? trans.__('kernel %1', string(details.kernel)) : ''}
          />
        </>
      );
    case 'notebook_run_all':
    case 'notebook_restart_kernel':
      return (
        <>
          <CellList cells={details.cells} />
          <Where
            label={trans.__('in')}
            text={string(details.path)}
            extra={
              approval.toolName === 'notebook_restart_kernel' ? trans.__('all its variables are lost') : ''
            }
          />
        </>
      );
    case 'notebook_run_cell':
      return (
        <>
          <Source text={string(details.source)} label={trans.__('Code')} />
          <Where label={trans.__('in')} text={string(details.path)} extra={linesOf(details.source, trans)} />
        </>
      );
    case 'kernel_execute':
      return (
        <>
          <Source text={string(details.code)} label={trans.__('Code')} />
          <Where
            label={trans.__('in the kernel of')}
            text={string(details.path)}
            extra={linesOf(details.code, trans)}
          />
        </>
      );
    case 'write':
    case 'edit':
      return (
        <>
          {typeof details.diff === 'string' ? (
            <UnifiedDiffView diff={details.diff} />
          ) : (
            <DiffView before="" after={string(details.content).replace(/\n$/, '')} />
          )}
          <Where
            label={trans.__('in')}
            text={string(details.path)}
            extra={typeof details.diff === 'string' ? '' : linesOf(details.content, trans)}
          />
          {[details.replaces, details.lineEnds, details.encoding, endOf(details.content, trans)]
            .map(string)
            .map(
              fact =>
                fact && (
                  <div key={fact} className="onyx-Where">
                    <VisibleText text={fact} />
                  </div>
                )
            )}
        </>
      );
    case 'web_search':
      return (
        <>
          <Source text={string(details.query)} label={trans.__('Search words')} />
          <Where label={trans.__('with')} text={string(details.through)} />
        </>
      );
    case 'web_fetch':
    case 'http_fetch':
      return <Request details={details} />;
    case 'sessions_send':
      return (
        <>
          <Source text={string(details.message)} label={trans.__('Message')} />
          <Where label={trans.__('to the session')} text={string(details.title)} />
        </>
      );
    case 'remember': {
      const former = Array.isArray(details.former) ? details.former.map(String) : [];
      const known = Array.isArray(details.known) ? details.known.map(String) : [];
      return (
        <>
          <DiffView before={former.join('\n')} after={string(details.fact)} />
          {known.length > 0 && <Where label={trans.__('Known as')} text={known.join('\n')} />}
          <Where label={trans.__('in')} text="memory/facts.jsonl" extra={string(details.category)} />
        </>
      );
    }
    case 'forget':
      return (
        <>
          <DiffView before={Array.isArray(details.facts) ? details.facts.join('\n') : ''} after="" />
          <Where
            label={trans.__('from')}
            text="memory/facts.jsonl"
            extra={trans.__('its versions can restore them')}
          />
        </>
      );
    case 'process':
      return (
        <>
          <Source text={string(details.text)} label={trans.__('Input')} />
          {details.endInput === true && <div className="onyx-Where">{trans.__('and ends the input')}</div>}
          <Where label={trans.__('into %1:', string(details.id))} text={string(details.command)} />
        </>
      );
    default:
      return <ArgumentList values={argumentsOf(details)} />;
  }
}

/** Every argument by name: text as text, everything else as JSON. */
export function ArgumentList({ values }: { values: Record<string, unknown> }): JSX.Element {
  return (
    <dl className="onyx-Arguments" data-onyx="arguments">
      {Object.entries(values).map(([name, value]) => (
        <div key={name}>
          <dt>
            <VisibleText text={name} />
          </dt>
          <dd>
            <Source text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} label={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * The use of a skill: its parameters and folder; the whole skill if it is not trusted yet, or what changed.
 */
function SkillUse({ details }: { details: Record<string, unknown> }): JSX.Element {
  const { trans } = useUi();
  const given = (details.parameters ?? {}) as Record<string, unknown>;
  const variables = Array.isArray(details.gets) ? details.gets.map(String) : [];
  return (
    <>
      {Object.keys(given).length > 0 && <ArgumentList values={given} />}
      {details.trust !== 'trusted' && (
        <div className="onyx-Where" data-onyx="approval-trust">
          {details.trust === 'changed'
            ? trans.__('What changed. Allowing it trusts this version:')
            : trans.__('Its full contents. Allowing it trusts this version:')}
        </div>
      )}
      {typeof details.diff === 'string' ? (
        <UnifiedDiffView diff={details.diff} />
      ) : (
        typeof details.source === 'string' && <Source text={details.source} label={trans.__('The skill')} />
      )}
      {variables.length > 0 && <Where label={trans.__('gets the variables')} text={variables.join(', ')} />}
      <Where
        label={trans.__('from')}
        text={string(details.path)}
        extra={string(details.source) && linesOf(details.source, trans)}
      />
      {string(details.cwd) && <Where label={trans.__('in')} text={string(details.cwd)} />}
    </>
  );
}

/** A request as it is sent: method and address, headers, body. */
function Request({ details }: { details: Record<string, unknown> }): JSX.Element {
  const { trans } = useUi();
  const headers = Object.entries((details.headers ?? {}) as Record<string, unknown>);
  const lines = [
    `${string(details.method) || 'GET'} ${string(details.url)}`,
    ...headers.map(([name, value]) => `${name}: ${String(value)}`)
  ];
  return (
    <>
      <Source text={lines.join('\n')} label={trans.__('Request')} />
      {typeof details.body === 'string' && details.body !== '' && (
        <Source text={details.body} label={trans.__('Body')} />
      )}
    </>
  );
}

function Source({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <pre className="onyx-Source" data-onyx="approval-source" tabIndex={0} aria-label={withMarks(label)}>
      <VisibleText text={text} />
    </pre>
  );
}

function Where({ label, text, extra }: { label: string; text: string; extra?: string }): JSX.Element {
  return (
    <div className="onyx-Where" data-onyx="approval-where">
      {label}{' '}
      <code>
        <VisibleText text={text} />
      </code>
      {extra && (
        <>
          {' · '}
          <VisibleText text={extra} />
        </>
      )}
    </div>
  );
}

/** The length of the code, which tells that there is more when it has to be scrolled. */
function linesOf(source: unknown, trans: TranslationBundle): string {
  const count = string(source).trimEnd().split('\n').length;
  return count === 1 ? '' : trans._n('%1 line', '%1 lines', count);
}

/** What the lines alone don't show. */
function endOf(content: unknown, trans: TranslationBundle): string {
  const text = string(content);
  return text === '' || text.endsWith('\n') ? '' : trans.__('The last line has no line end.');
}

function argumentsOf(details: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).filter(([key]) => !OWN_FIELDS.has(key)));
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
