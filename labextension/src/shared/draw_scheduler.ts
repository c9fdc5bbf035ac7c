/**
 * Schedules costly drawing: one per task, the newest request first, so that the page stays responsive in
 * between.
 */

export class DrawScheduler {
  /** Resolves when it is this caller's turn. */
  next(): Promise<void> {
    return new Promise(resolve => {
      this._waiting.push(resolve);
      this._schedule();
    });
  }

  private _schedule(): void {
    if (this._isScheduled) {
      return;
    }
    this._isScheduled = true;
    // A message arrives sooner than a timer of 0 ms, which browsers stretch to 4 ms.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      this._isScheduled = false;
      this._waiting.pop()?.();
      if (this._waiting.length > 0) {
        this._schedule();
      }
    };
    port2.postMessage(null);
  }

  private _isScheduled = false;
  private readonly _waiting: Array<() => void> = [];
}
