import { setTimeout as sleep } from 'node:timers/promises';
import { logWindowMs } from '@phalanx/protocol';

import { ApiRefusal } from '../api-client.ts';
import { notice } from '../output/notice.ts';
import { ServerUnreachable } from '../server-unreachable.ts';

const retryMs = 500;

/** A restart and an overload pass; a refusal does not. */
const isPassing = (error: unknown): error is Error =>
  error instanceof ServerUnreachable || (error instanceof ApiRefusal && error.status >= 500);

/**
 * Asks again while the server is away, and says so once. It gives up when the server was away for as long as log
 * lines are kept: then some are lost anyway.
 */
export class Endurance {
  #awaySince: number | undefined;

  async call<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        const result = await ask();
        this.#noteReturn();
        return result;
      } catch (error) {
        if (!isPassing(error)) throw error;
        this.#noteAbsence(error);
        await sleep(retryMs);
      }
    }
  }

  #noteAbsence(error: Error): void {
    const now = Date.now();
    if (this.#awaySince === undefined) {
      this.#awaySince = now;
      notice(`${error.message} Asking again until it answers; no line is lost by that.`);
    } else if (now - this.#awaySince > logWindowMs) throw error;
  }

  #noteReturn(): void {
    if (this.#awaySince === undefined) return;
    this.#awaySince = undefined;
    notice('The server answers again.');
  }
}
