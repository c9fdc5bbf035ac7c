/** Which cell stands where in a notebook, as far as the tools of a run have said it. It asks nobody. */
import type { ToolCall } from './conversation';

const RAN = /^(\d{1,6}) (\S+) (?:\[\d+\] )?(?:ok|error|aborted)\b/gm;
/** Lines that name a cell by number and id, by the tool that says them. */
const LINES: Readonly<Record<string, RegExp>> = {
  notebook_outline: /^(\d{1,6}) (\S+) (?:code|md|raw)\b/gm,
  notebook_read: /^--- cell (\d{1,6}) \(\w+\) id=(\S+) hash=/gm,
  notebook_find: /^cell (\d{1,6}) \((\S+)\) (?:line|output)\b/gm,
  notebook_run_all: RAN,
  notebook_restart_kernel: RAN
};
const TOTAL = /^.+: (\d{1,6}) cells, kernel /;
const INSERTED = /^Inserted \w+ cell (\S+)/;
const CREATED = /^Created .+? with (?:the cells (.+)\.|code cell (\S+) .*)$/m;

export class ToldCells {
  /** By their places, from 0, with holes. */
  get ids(): readonly (string | undefined)[] {
    return this._ids;
  }

  learn(number: number, cellId: string): void {
    this._ids[number - 1] = cellId;
  }

  /** What a call that is over has said, and moved. */
  follow({ tool, input, output }: ToolCall): void {
    const total = TOTAL.exec(output);
    if (total && Number(total[1]) !== this._ids.length) {
      this._ids = Array.from({ length: Number(total[1]) }); // others have changed it since
    }
    this._isWhole ||= total !== null;
    for (const [, number, id] of LINES[tool] ? output.matchAll(LINES[tool]) : []) {
      this.learn(Number(number), id);
    }
    const inserted = INSERTED.exec(output)?.[1];
    if (tool === 'notebook_create') {
      const [, several, one] = CREATED.exec(output) ?? [];
      this._ids = (several ?? one)?.split(', ') ?? [];
      this._isWhole = true;
    } else if (/^notebook_\w+_cell$/.test(tool) && inserted) {
      // also where another tool was called for it
      this._insert(inserted, input);
    } else if (tool === 'notebook_delete_cell' || tool === 'notebook_move_cell') {
      this._forget();
    }
  }

  private _insert(id: string, { afterCellId, atStart }: ToolCall['input']): void {
    if (atStart !== true && typeof afterCellId !== 'string') {
      if (this._isWhole) {
        this._ids.push(id);
      }
      return; // at the end, it moves no other
    }
    const before = this._ids.indexOf(String(afterCellId));
    if (atStart === true || before >= 0) {
      this._ids.splice(before + 1, 0, id);
    } else {
      this._forget();
    }
  }

  private _forget(): void {
    this._ids = [];
    this._isWhole = false;
  }

  private _ids: (string | undefined)[] = [];
  /** Whether there are no more cells than `_ids` has places for. */
  private _isWhole = false;
}
