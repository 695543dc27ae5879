import { runRoutes, type LogEntry } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import type { LogPages } from './follow-log.ts';

/** A place in the log of a run, at first its beginning. */
export class RunLog implements LogPages {
  readonly #api: ApiClient;
  readonly #runId: string;
  #from: string | undefined;

  constructor(api: ApiClient, runId: string) {
    this.#api = api;
    this.#runId = runId;
  }

  async readPage(): Promise<LogEntry[]> {
    const query = this.#from === undefined ? {} : { from: this.#from };
    const { logs } = await this.#api.call(runRoutes.logs, { params: { id: this.#runId }, query });
    this.#from = logs.at(-1)?.id ?? this.#from;
    return logs;
  }
}
