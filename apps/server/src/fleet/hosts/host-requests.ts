import { randomUUID } from 'node:crypto';
import { cutOff, notConnected } from '../../storage/bus/bus.ts';

const timeoutMs = 15_000;
const connectionBroke = 'the connection to its host broke';

/** Whether a host did not get a question, or could not answer it. What another server rejects with is a sentence. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && [notConnected, cutOff, connectionBroke].includes(error.message);

interface Waiting {
  resolve: (picture: Buffer) => void;
  reject: (error: Error) => void;
}

/** Questions to a host about a phone that are waiting for their bytes. */
export class HostRequests {
  readonly #waiting = new Map<string, Waiting>();

  /** Rejects with a sentence for people when the host says no, says nothing, or is gone. */
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

  /** The payload is a view of a larger frame, which must not be kept alive by it. */
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
