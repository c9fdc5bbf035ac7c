/** How a tool call reads as one line: verb, object. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { FACTS_FILE } from './citations';
import type { Citation } from './citations';
import type { ToolCall } from './conversation';

export interface ToolLine {
  verb: string;
  /** What it is done to; code is set in the code font. */
  object: string;
  isCode: boolean;
}

/** How a call's result begins where the call itself failed, and not the code or command that it ran. */
const FAILURE = /^\w+ failed \((\w+)\): /;

/** What a call says first that wrote a cell and ran it. */
const WRITTEN = /^(?:Inserted \w+|Edited|Created .+? with code) cell \S+ .*\n/;
/** The same of one whose cell stays without having run. */
const NOT_RUN =
  /^(?:Inserted \w+|Edited|Created .+? with code) cell \S+ .*\nThe cell stays; running it failed \((\w+)\): /;

/** How the result of a call for one cell names it. */
const TOLD = /^(?:Inserted \w+ cell|Created .+? with code cell|Edited cell|Ran cell|Cell) ([\w-]+)/;

type Words = [doing: string, done: string];

export function toolLine(call: ToolCall, trans: TranslationBundle): ToolLine {
  const { input } = call;
  const path = fileName(string(input.path));
  const word = ([doing, done]: Words) => (isOver(call) ? done : doing);
  switch (call.tool) {
    case 'exec':
      return code(word([trans.__('Run'), trans.__('Ran')]), firstLine(string(input.command)));
    case 'notebook_read':
      return line(word([trans.__('Read'), trans.__('Read')]), path);
    case 'notebook_outline':
      return line(word([trans.__('Look through'), trans.__('Looked through')]), path);
    case 'notebook_find':
      return code(word([trans.__('Search for'), trans.__('Searched for')]), string(input.pattern));
    case 'notebook_list':
      return line(word([trans.__('List notebooks'), trans.__('Listed notebooks')]), string(input.path));
    case 'notebook_create':
      return line(
        word(
          input.run === true
            ? [trans.__('Create and run'), trans.__('Created and ran')]
            : [trans.__('Create'), trans.__('Created')]
        ),
        path
      );
    case 'notebook_delete_cell':
      return line(word(deleting(input.cellIds, trans)), path);
    case 'notebook_move_cell':
      return line(word([trans.__('Move a cell of'), trans.__('Moved a cell of')]), path);
    case 'notebook_run_all':
      return line(word([trans.__('Run the cells of'), trans.__('Ran the cells of')]), path);
    case 'notebook_restart_kernel':
      return line(
        word(
          input.runAll === true
            ? [trans.__('Restart and run'), trans.__('Restarted and ran')]
            : [trans.__('Restart the kernel of'), trans.__('Restarted the kernel of')]
        ),
        path
      );
    case 'notebook_insert_cell':
      return line(
        word(
          input.run === true
            ? [trans.__('Insert and run a cell in'), trans.__('Inserted and ran a cell in')]
            : [trans.__('Insert a cell into'), trans.__('Inserted a cell into')]
        ),
        path
      );
    case 'notebook_edit_cell':
      return line(
        word(
          input.run === true
            ? [trans.__('Edit and run a cell of'), trans.__('Edited and ran a cell of')]
            : [trans.__('Edit a cell of'), trans.__('Edited a cell of')]
        ),
        path
      );
    case 'notebook_run_cell':
      return line(word([trans.__('Run a cell of'), trans.__('Ran a cell of')]), path);
    case 'kernel_variables':
      return line(word([trans.__('Look at the variables of'), trans.__('Looked at the variables of')]), path);
    case 'kernel_inspect':
      return code(word([trans.__('Look at'), trans.__('Looked at')]), string(input.name));
    case 'kernel_execute':
      return code(word([trans.__('Run'), trans.__('Ran')]), firstLine(string(input.code)));
    case 'read':
      return line(word([trans.__('Read'), trans.__('Read')]), path);
    case 'write':
      return line(word([trans.__('Write'), trans.__('Wrote')]), path);
    case 'edit':
      return line(word([trans.__('Edit'), trans.__('Edited')]), path);
    case 'list':
      return line(word([trans.__('List'), trans.__('Listed')]), path || '/');
    case 'search':
      return code(word([trans.__('Search for'), trans.__('Searched for')]), string(input.pattern));
    case 'process':
      return line(trans.__('Background job: %1', string(input.action)), string(input.id));
    case 'web_search':
      return line(
        word([trans.__('Search the web for'), trans.__('Searched the web for')]),
        string(input.query)
      );
    case 'web_fetch':
      return line(word([trans.__('Read the page'), trans.__('Read the page')]), address(input.url));
    case 'http_fetch':
      return line(string(input.method) || 'GET', address(input.url));
    case 'ask_user':
      return line(word([trans.__('Ask'), trans.__('Asked')]), firstLine(string(input.question)));
    case 'plan_update':
      return line(word([trans.__('Plan'), trans.__('Planned')]), '');
    case 'sessions_list':
      return line(word([trans.__('List sessions'), trans.__('Listed sessions')]), string(input.query));
    case 'sessions_history':
      return line(word([trans.__('Read another session'), trans.__('Read another session')]), '');
    case 'sessions_send':
      return line(word([trans.__('Write to another session'), trans.__('Wrote to another session')]), '');
    case 'more_tools':
      return line(word([trans.__('Look up the tool'), trans.__('Looked up the tool')]), string(input.tool));
    case 'memory_search':
      return line(
        word([trans.__('Search memory for'), trans.__('Searched memory for')]),
        string(input.query)
      );
    case 'memory_get':
      return line(word([trans.__('Read'), trans.__('Read')]), path);
    case 'memory_history':
      return line(
        input.action === 'restore'
          ? word([trans.__('Bring back a version of'), trans.__('Brought back a version of')])
          : word([trans.__('Look at versions of'), trans.__('Looked at versions of')]),
        path
      );
    case 'memory_write':
      return line(word([trans.__('Write to'), trans.__('Wrote to')]), path || trans.__('memory'));
    case 'remember':
      return line(word([trans.__('Remember:'), trans.__('Remembered:')]), string(input.fact));
    case 'forget':
      return line(
        word([trans.__('Forget facts with'), trans.__('Forgot facts with')]),
        string(input.pattern)
      );
    case 'sessions_search':
      return line(
        word([trans.__('Search sessions for'), trans.__('Searched sessions for')]),
        string(input.query)
      );
    default:
      return line(call.tool.replace(/_/g, ' '), firstLine(firstString(input)));
  }
}

/** The cell that a call is about, or that it made; null for other calls. The result names it by id, the call may not. */
export function cellOf(call: ToolCall): { path: string; cellId: string } | null {
  const path = string(call.input.path);
  const told = /^notebook_(insert|edit|run)_cell$/.test(call.tool) && TOLD.exec(call.output)?.[1];
  const cellId = told || string(call.input.cellId);
  return path && cellId && call.tool.startsWith('notebook_') ? { path, cellId } : null;
}

/** The file that a call was about, by the agent's path for it; empty where there is none to open. */
export function fileOf(call: ToolCall): string {
  const path = string(call.input.path);
  if (call.status !== 'ok' || path === '' || path.startsWith('/')) {
    return '';
  }
  if (/^(read|write|edit|notebook_\w+)$/.test(call.tool)) {
    return path;
  }
  return call.tool === 'memory_get' ? `onyx:${path.replace(/^onyx:/, '')}` : '';
}

/** The lines of memory that a call read or wrote; null for other calls. */
export function memoryOf(call: ToolCall): Citation | null {
  if (call.status !== 'ok') {
    return null;
  }
  if (call.tool === 'memory_write') {
    const path = /^Added to (\S+\.md)\.?$/m.exec(call.output)?.[1];
    return path ? { path } : null;
  }
  if (call.tool === 'remember') {
    const fact = /^(?:Remembered|Known already,) as (f\d+)\b/.exec(call.output)?.[1];
    return fact ? { path: FACTS_FILE, fact } : null;
  }
  const path = string(call.input.path).replace(/^onyx:/, '');
  if (!/^memory_(get|history)$/.test(call.tool) || path === '' || path.startsWith('/')) {
    return null;
  }
  const { from, lines } = call.input;
  return typeof from === 'number'
    ? { path, lines: [from, from + (typeof lines === 'number' ? lines : 1) - 1] }
    : { path };
}

/** The first line that says something, headings of an output's parts aside: a failure's reason in one line. */
export function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .map(one => one.trim())
      .find(one => one !== '' && !/^(stdout|stderr):$/.test(one)) ?? ''
  );
}

/** Why a call failed, in one line, without what only the model is told. */
export function failureOf(call: ToolCall): string {
  return firstLine(call.output.replace(FAILURE, '').replace(WRITTEN, ''));
}

export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1000;
  if (seconds < 10) {
    return `${Math.max(0.1, seconds).toFixed(1)} s`;
  }
  return formatSeconds(seconds);
}

/** `8 s`, `1 min 5 s`: in whole seconds, and never none. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A URL without its protocol: what a person recognises it by. */
function address(url: unknown): string {
  return string(url).replace(/^https?:\/\//, '');
}

function code(verb: string, object: string): ToolLine {
  return { verb, object, isCode: true };
}

function line(verb: string, object: string): ToolLine {
  return { verb, object, isCode: false };
}

/** A call that was denied, stopped or not possible never happened, so it does not read as done. */
function isOver(call: ToolCall): boolean {
  if (call.status !== 'failed') {
    return call.status === 'ok';
  }
  const code = (FAILURE.exec(call.output) ?? NOT_RUN.exec(call.output))?.[1];
  return code === undefined || code === 'timeout';
}

function deleting(cellIds: unknown, trans: TranslationBundle): Words {
  const count = Array.isArray(cellIds) ? new Set(cellIds).size : 1;
  return [
    trans._n('Delete a cell of', 'Delete %1 cells of', count),
    trans._n('Deleted a cell of', 'Deleted %1 cells of', count)
  ];
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function firstString(input: Record<string, unknown>): string {
  return string(Object.values(input).find(value => typeof value === 'string'));
}
