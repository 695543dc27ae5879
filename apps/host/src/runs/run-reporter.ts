import type { RunReport } from '@phalanx/protocol';

import type { ServerConnection } from '../connection/server-connection.ts';

const maxReportsPerMessage = 500;
/** In UTF-16 units of results and stacks: far below the limit of a frame, whatever their encoding takes. */
export const maxLengthPerMessage = 2 * 1024 * 1024;

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
    for (const runs of inMessages(reports)) this.#connection.send({ type: 'runs', runs });
  }
}

function inMessages(reports: readonly RunReport[]): RunReport[][] {
  const messages: RunReport[][] = [];
  let room = 0;
  for (const report of reports) {
    room -= lengthOf(report);
    const last = messages.at(-1);
    if (last !== undefined && room >= 0 && last.length < maxReportsPerMessage) {
      last.push(report);
      continue;
    }
    messages.push([report]);
    room = maxLengthPerMessage - lengthOf(report);
  }
  return messages;
}

/** Of what may be long. */
export const lengthOf = ({ error, result }: Pick<RunReport, 'error' | 'result'>): number =>
  (result?.length ?? 0) + (error?.stack?.length ?? 0) + (error?.message.length ?? 0);
