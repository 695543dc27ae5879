import { logRoutes, type LogEntry } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import type { LogPages } from './follow-log.ts';

export interface LogSource {
  deviceId: string;
  automationId: string;
}

/** A place in the log of an automation on a device. */
export class LogCursor implements LogPages {
  readonly #source: LogSource;
  readonly #api: ApiClient;
  #from: string | undefined;

  constructor(api: ApiClient, source: LogSource, from?: string) {
    this.#api = api;
    this.#source = source;
    this.#from = from;
  }

  async readPage(): Promise<LogEntry[]> {
    const body = { device_id: this.#source.deviceId, automation_ids: [this.#source.automationId] };
    const from = this.#from === undefined ? {} : { from: this.#from };
    const { logs } = await this.#api.call(logRoutes.read, { body: { ...body, ...from } });
    this.#from = logs.at(-1)?.id ?? this.#from;
    return logs;
  }
}
