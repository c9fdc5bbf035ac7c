/** Which cell stands where in a notebook, as far as the tools of a run have said it. It asks nobody. */
import type { ResultData } from './result_data';

export class ToldCells {
  /** By their places, from 0, with holes. */
  get ids(): readonly (string | undefined)[] {
    return this._ids;
  }

  learn(number: number, cellId: string): void {
    this._ids[number - 1] = cellId;
  }

  /** What a call that is over has said, and moved. */
  follow({ total, cells, inserted, moved }: ResultData): void {
    if (total !== undefined && total !== this._ids.length) {
      this._ids = Array.from({ length: total }); // others have changed it since
    }
    this._isWhole ||= total !== undefined;
    for (const { number, id } of cells) {
      this.learn(number, id);
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
      return; // it moves no other
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
