import { isPassing, untilAnswered } from '@phalanx/client/retry';
import { logWindowMs } from '@phalanx/protocol';

import { notice } from '../output/terminal.ts';

/** Period in which the server does not answer. The user gets a notice when it begins and ends. */
export class Absence {
  #since: number | undefined;

  /** Retries until the server answers. Throws permanent failures, and throws like `begin`. */
  outlast<Result>(ask: () => Promise<Result>): Promise<Result> {
    return untilAnswered(async () => {
      try {
        const result = await ask();
        this.end();
        return result;
      } catch (error) {
        if (error instanceof Error && isPassing(error)) this.begin(error);
        throw error;
      }
    });
  }

  /** Starts the absence unless it has started. Throws `error` if it has lasted longer than logs are kept. */
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
    notice(`${message} Retrying until it answers; no line is lost.`);
    return Date.now();
  }
}
