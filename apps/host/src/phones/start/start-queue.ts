import { availableParallelism } from 'node:os';

/**
 * Maximum turn in milliseconds. Later work of a start, such as an installation over slow Wi-Fi, continues beside the
 * next starts.
 */
const maxTurnMs = 5000;

export interface StartQueueOptions {
  /** Maximum number of phones that start at the same time. Default: twice the number of CPU cores. */
  readonly atOnce?: number | undefined;
  /** Maximum turn in milliseconds, after which the next phone may start too. Default 5000. */
  readonly turnMs?: number | undefined;
}

export interface Turn {
  /** Ends the turn, so that the next phone can start: the rest of this start costs the host little. Idempotent. */
  end(): void;
}

/** Ranks in descending priority: phones in use, known phones, and phones that are not identified yet. */
const order = ['in_use', 'known', 'unknown'] as const;

export interface TurnRequest {
  readonly signal: AbortSignal;
  readonly rank: (typeof order)[number];
  /** Called when the phone has to wait for its turn. */
  readonly onWait: () => void;
}

interface Waiting {
  readonly place: number;
  begin(): void;
}

/**
 * Limits how many phones of a host start at the same time, because each start costs the host CPU time, memory and
 * network. Phones of one rank start in the order of their arrival.
 */
export class StartQueue {
  readonly atOnce: number;
  readonly #turnMs: number;
  #running = 0;
  #waiting: Waiting[] = [];

  constructor({ atOnce = 2 * availableParallelism(), turnMs = maxTurnMs }: StartQueueOptions = {}) {
    this.atOnce = atOnce;
    this.#turnMs = turnMs;
  }

  /** Rejects with the signal's reason when the signal aborts before the turn. */
  async run<T>(request: TurnRequest, start: (turn: Turn) => Promise<T>): Promise<T> {
    request.signal.throwIfAborted();
    if (this.#running >= this.atOnce) await this.#wait(request);
    else this.#running += 1;
    const turn = this.#openTurn();
    try {
      return await start(turn);
    } finally {
      turn.end();
    }
  }

  /** Resolves when an ended turn was handed over to this phone. */
  #wait({ signal, rank, onWait }: TurnRequest): Promise<void> {
    onWait();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason instanceof Error ? signal.reason : new Error('The phone is gone'));
      };
      const begin = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const waiting: Waiting = { place: order.indexOf(rank), begin };
      signal.addEventListener('abort', onAbort, { once: true });
      const behind = this.#waiting.findIndex(({ place }) => place > waiting.place);
      this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, waiting);
    });
  }

  #openTurn(): Turn {
    let isOpen = true;
    const end = (): void => {
      clearTimeout(timer);
      if (!isOpen) return;
      isOpen = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next.begin();
    };
    const timer = setTimeout(end, this.#turnMs);
    return { end };
  }
}
