import { boundedCache } from './bounded-cache.ts';

/** Cache of the stored value of each key. A value that was read before a change is dropped after it. */
export class Cached<Value extends object> {
  readonly #kept;
  #changes = 0;

  constructor(maxEntries: number) {
    this.#kept = boundedCache<Value>(maxEntries);
  }

  find(key: string): Value | undefined {
    return this.#kept.get(key);
  }

  /** Returns the cached value of the key, or reads it. */
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

  /** Forgets all keys. Call it when another server may have changed a value. */
  forgetAll(): void {
    this.#changes += 1;
    this.#kept.clear();
  }
}
