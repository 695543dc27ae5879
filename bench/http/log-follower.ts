import { ApiClient } from '@phalanx/client/api-client';
import { openEventStream, type EventStream } from '@phalanx/client/event-stream';
import { operationsOf } from '@phalanx/client/operations';

import type { Api } from './api.ts';

/** Follows the log events of a service without polling: an event arrives when an entry is stored. */
export class LogFollower {
  readonly #waiting = new Map<string, () => void>();

  static async open({ url, token }: Api): Promise<LogFollower> {
    const operations = operationsOf(new ApiClient({ url, token, retryForMs: 0 }));
    const follower = new LogFollower();
    const { signal } = new AbortController();
    const stream = await openEventStream(operations, { types: ['log'] }, signal);
    // The stream is cut when the service ends.
    follower.#read(stream).catch(() => undefined);
    return follower;
  }

  /** Resolves when the automation has logged. Must be called before that. */
  whenLogged(automationId: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(automationId, resolve));
  }

  async #read(stream: EventStream): Promise<void> {
    for await (const event of stream)
      for (const { automationId } of event.type === 'log' ? event.logs : []) {
        this.#waiting.get(automationId)?.();
        this.#waiting.delete(automationId);
      }
  }
}
