import { logWindowMs } from '@phalanx/protocol';

import { notice } from '../output/terminal.ts';

/** The time in which the server does not answer, as people are told of it. */
export class Absence {
  #since: number | undefined;

  /** Throws `error` when it has lasted too long. */
  begin(error: Error): void {
    this.#since ??= this.#notice(error);
    if (Date.now() - this.#since > logWindowMs) throw error;
  }

  end(): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    notice('The server answers again.');
  }

  #notice({ message }: Error): number {
    notice(`${message} Asking again until it answers; no line is lost by that.`);
    return Date.now();
  }
}
