import { randomUUID } from 'node:crypto';
import { cutOff, notConnected } from '../../storage/bus/bus.ts';

const timeoutMs = 15_000;
const connectionBroke = 'the connection to its host broke';

/**
 * Whether a host did not receive a question or could not answer it. Compares messages, because a rejection by another
 * server carries nothing else.
 */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && [notConnected, cutOff, connectionBroke].includes(error.message);

interface Waiting {
  resolve: (picture: Buffer) => void;
  reject: (error: Error) => void;
}

/** In-flight questions to a host about a phone. */
export class HostRequests {
  readonly #waiting = new Map<string, Waiting>();

  /** Rejects with a user-facing message when the host refuses, times out or disconnects. */
  async ask(send: (requestId: string) => void): Promise<Buffer> {
    const requestId = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    this.#waiting.set(requestId, { resolve, reject });
    send(requestId);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(requestId);
    }
  }

  /** Resolves a request with a copy of the payload, which is a view of a larger frame and would keep it in memory. */
  answer(requestId: string, payload: Buffer): void {
    this.#waiting.get(requestId)?.resolve(Buffer.from(payload));
  }

  refuse(requestId: string, reason: string): void {
    this.#waiting.get(requestId)?.reject(new Error(reason));
  }

  close(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(connectionBroke));
  }
}
