import { setTimeout as sleep } from 'node:timers/promises';

import { type LogEntry, logWindowMs } from '@phalanx/protocol';

import { ApiRefusal, ServerUnreachable } from '../api-client.ts';
import { notice } from '../output/notice.ts';

/** A log that is read from a place on. */
export interface LogPages {
  /** The entries after this place, as many as one reply holds; it moves behind them. Empty: nothing newer. */
  readPage(): Promise<LogEntry[]>;
}

/** A host says that a run has ended without waiting for the service to store its last lines. */
const quietMs = 1000;

type OnEntries = (entries: readonly LogEntry[]) => void;

/** Hands out all that there is now; false when there was nothing. */
export async function drain(endurance: Endurance, log: LogPages, onEntries: OnEntries): Promise<boolean> {
  for (let hasFound = false; ; hasFound = true) {
    const entries = await endurance.call(() => log.readPage());
    if (entries.length === 0) return hasFound;
    onEntries(entries);
  }
}

/** The same for a run that has ended: until nothing more has come for a while. */
export async function drainEnded(endurance: Endurance, log: LogPages, onEntries: OnEntries): Promise<void> {
  do await sleep(quietMs);
  while (await drain(endurance, log, onEntries));
}

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
