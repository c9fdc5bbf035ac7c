/** Which notebook an answer refers to, and the ids of its cells that were reported to the run. */
import type { ContextOf } from '../composer/context_items';
import type { Part, ToolCall, UserMessage } from './conversation';
import { notebookData, SeenCells } from './seen_cells';

/** `cellIds` are indexed by place, from 0, as far as the run learned them before the text. */
export interface TargetNotebook {
  path: string;
  cellIds: readonly (string | undefined)[];
}

const READ_TOOLS = /^(notebook_(outline|read|find)|kernel_(variables|inspect))$/;
const NAMES = /[^\s`'"“”‘’()[\]<>|*,;]+\.ipynb\b/g;

/**
 * The notebook that a text saying `words` refers to, after these parts of the run that answers `asked`. It is
 * the one that the words name, else the one last worked with; null if none is known or it is ambiguous.
 */
export function targetNotebook(
  asked: UserMessage | undefined,
  before: readonly Part[],
  words: string
): TargetNotebook | null {
  const known = new KnownNotebooks();
  if (asked) {
    known.read(asked);
  }
  before.forEach(part => known.follow(part));
  return known.resolve(words);
}

class KnownNotebooks {
  follow(part: Part): void {
    if (part.kind === 'said') {
      this.read(part.message);
    } else if (part.kind === 'text') {
      this._readSinceChange.clear();
    } else if (part.kind === 'tool') {
      this._call(part.call);
    }
  }

  read({ context, fromPath }: UserMessage): void {
    for (const item of context.filter(isInNotebook)) {
      const cells = this._seenCells(withoutDrive(item.path));
      const number = /^cell (\d{1,6})$/.exec(item.label ?? '')?.[1];
      if (item.cellId && number) {
        cells.setNumber(Number(number), item.cellId);
      }
    }
    if (fromPath) {
      this._seenCells(fromPath);
    }
    this._readSinceChange.clear();
  }

  resolve(words: string): TargetNotebook | null {
    const names = words.match(NAMES);
    const named = [...this._cells.keys()].filter(path => names?.every(name => path.endsWith(name)));
    const path = names ? (named.length === 1 ? named[0] : null) : this._last;
    return path === null ? null : { path, cellIds: this._cells.get(path)?.ids ?? [] };
  }

  private _call(call: ToolCall): void {
    const data = notebookData(call.data);
    const path = data && withoutDrive(data.notebook);
    if (!path || path.startsWith('/')) {
      return;
    }
    if (!READ_TOOLS.test(call.tool)) {
      this._readSinceChange.clear(); // a notebook that is changed is meant, whatever was read before
    }
    this._seenCells(path).follow(data);
  }

  /** Several notebooks read since the last words are equally likely. */
  private _seenCells(path: string): SeenCells {
    this._readSinceChange.add(path);
    this._last = this._readSinceChange.size === 1 ? path : null;
    const cells = this._cells.get(path) ?? new SeenCells();
    this._cells.set(path, cells);
    return cells;
  }

  private readonly _cells = new Map<string, SeenCells>();
  private readonly _readSinceChange = new Set<string>();
  private _last: string | null = null;
}

function isInNotebook({ type, cellId }: ContextOf): boolean {
  return type === 'notebook' || type === 'cell' || type === 'error' || type === 'variable' || Boolean(cellId);
}

function withoutDrive(path: string): string {
  return path.replace(/^RTC:/, '');
}
