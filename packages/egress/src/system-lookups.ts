import { lookup, type LookupAddress } from 'node:dns';

/** Looks up a name by the system. Resolves with an empty list for an unknown name. Never rejects. */
export type AskSystem = (name: string) => Promise<LookupAddress[]>;

const askSystem: AskSystem = (name) =>
  new Promise((resolve) => {
    lookup(name, { all: true }, (_error, addresses) => resolve(addresses ?? []));
  });

/**
 * Lookups by the system, one at a time, because each blocks one of a few threads. Among waiting owners, the one that
 * has used the least time goes first: slow names of one owner delay another owner only by the current lookup.
 */
export class SystemLookups {
  readonly #ask: AskSystem;
  /** Waiting lookups by owner. */
  readonly #waiting = new Map<unknown, (() => void)[]>();
  /** Time in milliseconds that each owner has used, of owners that wait or have just had a turn. */
  readonly #had = new Map<unknown, number>();
  #isBusy = false;

  constructor(ask: AskSystem = askSystem) {
    this.#ask = ask;
  }

  async find(owner: unknown, name: string): Promise<LookupAddress[]> {
    await this.#turnOf(owner);
    const since = performance.now();
    try {
      return await this.#ask(name);
    } finally {
      this.#had.set(owner, (this.#had.get(owner) ?? 0) + performance.now() - since);
      this.#next();
    }
  }

  async #turnOf(owner: unknown): Promise<void> {
    if (this.#isBusy)
      return await new Promise((begin) => {
        this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), begin]);
      });
    this.#isBusy = true;
  }

  #next(): void {
    const hadOf = (owner: unknown): number => this.#had.get(owner) ?? 0;
    const [owner] = [...this.#waiting.keys()].toSorted((one, other) => hadOf(one) - hadOf(other));
    const [begin, ...others] = this.#waiting.get(owner) ?? [];
    if (others.length === 0) this.#waiting.delete(owner);
    else this.#waiting.set(owner, others);
    this.#isBusy = begin !== undefined;
    if (begin !== undefined) return begin();
    // No lookup waits, so all owners are equal again.
    this.#had.clear();
  }
}
