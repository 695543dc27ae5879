/** Callers per turn of the event loop. They share a transaction, and nobody else waits for more of them than these. */
const few = 8;

/** Lets through a few callers in each turn of the event loop: thousands that come at once keep nobody else waiting. */
export class AdmissionThrottle {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    if (this.#waiting.length === 0) setImmediate(() => this.#letIn());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #letIn(): void {
    for (const letIn of this.#waiting.splice(0, few)) letIn();
    if (this.#waiting.length > 0) setImmediate(() => this.#letIn());
  }
}
