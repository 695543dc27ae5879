import type { RunReport } from '@phalanx/protocol';

import { inPages } from '../connection/pages.ts';
import type { ServerConnection } from '../connection/server-connection.ts';

/** Sends the reports of runs that changed, those of one turn of the event loop together. */
export class RunReporter {
  readonly #connection: ServerConnection;
  readonly #reportOf: (runId: string) => RunReport | undefined;
  readonly #changed = new Set<string>();
  #isScheduled = false;

  constructor(connection: ServerConnection, reportOf: (runId: string) => RunReport | undefined) {
    this.#connection = connection;
    this.#reportOf = reportOf;
    connection.onOnline(() => this.#schedule());
  }

  mark(runId: string): void {
    this.#changed.add(runId);
    this.#schedule();
  }

  /** A `hello` has just told everything. */
  clear(): void {
    this.#changed.clear();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#changed.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#report();
    });
  }

  #report(): void {
    if (!this.#connection.online) return;
    const reports = [...this.#changed].flatMap((runId) => this.#reportOf(runId) ?? []);
    this.#changed.clear();
    for (const runs of inPages(reports)) this.#connection.send({ type: 'runs', runs });
  }
}
