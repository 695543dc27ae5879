import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry } from '@phalanx/protocol';

import type { Installation } from './installation.ts';

/** Time in ms after which a silent run counts as stopped. */
const quietLimitMs = 60_000;

/**
 * Reads the logs of one launch by pages of `automationLogs`, like programs that follow no events, regardless of
 * faults in the service.
 */
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

  /** Reads new entries. Returns false if there were none or the service is unreachable. */
  async poll(): Promise<boolean> {
    const from = this.entries.at(-1)?.id;
    const page = await this.#installation.readLogs(this.deviceId, this.launchId, from).catch(() => []);
    this.entries.push(...page);
    return page.length > 0;
  }

  /** Reads until the run has ended and all entries are read. */
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

  /** Returns the numbers of the lines `line N`, in reading order. */
  get numbers(): number[] {
    return this.entries
      .map(({ message }) => /^line (\d+)$/.exec(message)?.[1])
      .filter((text) => text !== undefined)
      .map(Number);
  }
}
