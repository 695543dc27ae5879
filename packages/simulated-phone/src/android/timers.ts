/** Timers of one owner, ended together, so that nothing runs after a phone was stopped. */
export class Timers {
  readonly #timers = new Map<NodeJS.Timeout, string>();

  start(owner: string, delayMs: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, delayMs);
    // A phone alone keeps no process alive.
    timer.unref();
    this.#timers.set(timer, owner);
  }

  /** Ends the owner's timers, all when none is given. */
  clear(owner?: string): void {
    for (const [timer, timerOwner] of [...this.#timers]) {
      if (owner !== undefined && owner !== timerOwner) continue;
      clearTimeout(timer);
      this.#timers.delete(timer);
    }
  }
}
