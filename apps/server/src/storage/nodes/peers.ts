import type { Bus } from '../bus/bus.ts';

interface PeersOptions {
  bus: Bus;
  /** ID of this server. */
  nodeId: string;
  /** IDs of the other servers that are alive. */
  listOthers: () => Promise<string[]>;
}

/** Maximum wait for a server that does not answer. */
const timeoutMs = 500;

const subjectOf = (nodeId: string, topic: string): string => `node.${nodeId}.${topic}`;

/** The other servers of the database. */
export class Peers {
  readonly #options: PeersOptions;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** Does something for another server, which waits until it is done. Returns the function that ends it. */
  answer(topic: string, work: (text: string) => Promise<void> | void): () => void {
    const { bus, nodeId } = this.#options;
    return bus.answer(subjectOf(nodeId, topic), async (text) => {
      await work(text);
      return Buffer.alloc(0);
    });
  }

  /** Resolves when all servers that are there have done it, or after half a second. */
  async broadcast(topic: string, text = ''): Promise<void> {
    const { bus, listOthers } = this.#options;
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    const ask = async (): Promise<void> => {
      await Promise.allSettled((await listOthers()).map((id) => bus.ask(subjectOf(id, topic), text)));
    };
    await Promise.race([ask(), isLate]).finally(() => clearTimeout(timer));
  }
}
