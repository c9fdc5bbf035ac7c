/** The ids of a notebook's cells by place, as far as the run's tools have reported them. */
import type { ResultData } from './result_data';

export class SeenCells {
  /** By place, from 0, with holes. */
  get ids(): readonly (string | undefined)[] {
    return this._ids;
  }

  setNumber(number: number, cellId: string): void {
    this._ids[number - 1] = cellId;
  }

  /** Applies what a finished call reported and moved. */
  follow({ total, cells, inserted, moved }: ResultData): void {
    if (total !== undefined && total !== this._ids.length) {
      this._ids = Array.from({ length: total }); // something else has changed it since
    }
    this._isWhole ||= total !== undefined;
    for (const { number, id } of cells) {
      this.setNumber(number, id);
    }
    if (inserted) {
      this._insert(inserted);
    }
    if (moved) {
      this._forget();
    }
  }

  private _insert({ id, at, after }: NonNullable<ResultData['inserted']>): void {
    if (at === 'end') {
      if (this._isWhole) {
        this._ids.push(id);
      }
      return; // it moves no other cell
    }
    const before = this._ids.indexOf(after);
    if (at === 'start' || before >= 0) {
      this._ids.splice(at === 'start' ? 0 : before + 1, 0, id);
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
