import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry } from '@phalanx/protocol';

import type { Installation } from './installation.ts';

/** A run that is silent for so long has stopped to run. */
const quietLimitMs = 60_000;

/** Reads the logs of one launch through the cursor, whatever happens to the service meanwhile. */
export class LogReader {
  readonly entries: LogEntry[] = [];
  readonly deviceId: string;
  readonly launchId: string;
  readonly #installation: Installation;

  constructor(installation: Installation, launch: { deviceId: string; launchId: string }) {
    this.#installation = installation;
    this.deviceId = launch.deviceId;
    this.launchId = launch.launchId;
  }

  /** Reads what is new. False when there was nothing, or nobody to ask. */
  async poll(): Promise<boolean> {
    const from = this.entries.at(-1)?.id;
    const page = await this.#installation.readLogs(this.deviceId, this.launchId, from).catch(() => []);
    this.entries.push(...page);
    return page.length > 0;
  }

  /** Reads on until the run has ended and nothing is left to read. */
  async readToEnd(): Promise<void> {
    let lastNewsAt = performance.now();
    for (let hasEnded = false; !hasEnded; await sleep(20)) {
      const run = await this.#installation.findRun(this.launchId).catch(() => undefined);
      hasEnded = run !== undefined && run.ended_at !== null;
      while (await this.poll()) lastNewsAt = performance.now();
      if (performance.now() - lastNewsAt > quietLimitMs)
        throw new Error(
          `no line for ${quietLimitMs / 1000} s after ${this.entries.length} of ${run?.status} run`,
        );
    }
  }

  /** The numbers of the lines `line N`, as they were read. */
  get numbers(): number[] {
    return this.entries
      .map(({ message }) => /^line (\d+)$/.exec(message)?.[1])
      .filter((text) => text !== undefined)
      .map(Number);
  }
}
