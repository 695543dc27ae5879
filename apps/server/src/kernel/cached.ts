import { boundedCache } from './bounded-cache.ts';

/** Cache of what is stored for each key. What was read before a change is not kept after it. */
export class Cached<Value extends object> {
  readonly #kept;
  #changes = 0;

  constructor(maxEntries: number) {
    this.#kept = boundedCache<Value>(maxEntries);
  }

  find(key: string): Value | undefined {
    return this.#kept.get(key);
  }

  /** Returns what is known of the key, or else reads it. */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const changesBefore = this.#changes;
    const value = await read();
    if (changesBefore === this.#changes) this.#kept.set(key, value);
    return value;
  }

  /** Forgets a key. Call it after it has changed. */
  forget(key: string): void {
    this.#changes += 1;
    this.#kept.delete(key);
  }

  /** Forgets everything. Call it when another server may have changed something. */
  forgetAll(): void {
    this.#changes += 1;
    this.#kept.clear();
  }
}
