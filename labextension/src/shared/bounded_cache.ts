/** The newest results by key, bounded by number and by length. Pending results are never dropped. */
import { countChars } from '../protocol/frame_size';

export class Remembered<T> {
  constructor(
    private readonly most: number,
    private readonly maxChars: number
  ) {}

  get(key: string): Promise<T> | undefined {
    return this._results.get(key)?.result;
  }

  /** Whether it is there and settled. */
  hasEnded(key: string): boolean {
    return this._results.get(key)?.chars !== undefined;
  }

  add(key: string, result: Promise<T>): void {
    const kept: Kept<T> = { result };
    const end = (value: unknown) => {
      kept.chars = countChars(value, this.maxChars);
      this._evict();
    };
    this._results.set(key, kept);
    result.then(end, () => end(null)); // the caller of `get` receives the error
  }

  /** The newest stays, whatever its size: it may not have been requested yet. */
  private _evict(): void {
    const ended = [...this._results].filter(([, kept]) => kept.chars !== undefined).reverse();
    let chars = 0;
    ended.forEach(([key, kept], index) => {
      chars += kept.chars ?? 0;
      if (index > 0 && (index >= this.most || chars > this.maxChars)) {
        this._results.delete(key);
      }
    });
  }

  private readonly _results = new Map<string, Kept<T>>();
}

interface Kept<T> {
  result: Promise<T>;
  chars?: number;
}
