import { setTimeout as sleep } from 'node:timers/promises';

import { KeepAliveClient } from './keep-alive-client.ts';
import { send } from './send.ts';

/** Repeats a request at a steady rate, regardless of pending replies. */
export class Pace {
  readonly #url: string;
  readonly #bytes: Buffer;
  readonly #idle: KeepAliveClient[] = [];
  readonly #latenciesMs: number[] = [];
  readonly #pending = new Set<Promise<void>>();
  #isRunning = true;
  #error: Error | undefined;
  readonly #sending: Promise<void>;

  constructor(url: string, bytes: Buffer, perSecond: number) {
    this.#url = url;
    this.#bytes = bytes;
    this.#sending = this.#sendAll(1000 / perSecond);
  }

  /** Stops. Resolves with the latency of each request in ms when all have replies. Throws if one has failed. */
  async stop(): Promise<number[]> {
    this.#isRunning = false;
    await this.#sending;
    await Promise.all(this.#pending);
    for (const client of this.#idle) client.close();
    if (this.#error !== undefined) throw this.#error;
    return this.#latenciesMs;
  }

  async #sendAll(intervalMs: number): Promise<void> {
    const startedAt = performance.now();
    let count = 0;
    while (this.#isRunning) {
      const due = (performance.now() - startedAt) / intervalMs;
      for (; count <= due; count += 1) this.#sendOne();
      await sleep(1);
    }
  }

  #sendOne(): void {
    const sent = this.#measure()
      .catch((error: unknown) => {
        this.#error ??= error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
  }

  async #measure(): Promise<void> {
    const client = this.#idle.pop() ?? (await KeepAliveClient.open(this.#url));
    this.#latenciesMs.push(await send(client, this.#bytes));
    this.#idle.push(client);
  }
}
