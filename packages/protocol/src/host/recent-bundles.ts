/** Larger bundles are sent with every launch. In UTF-16 units of code and source map. */
export const maxKeptBundleLength = 1024 * 1024;
const maxKept = 32;

/**
 * The bundles that were used last on one connection between server and host. Both ends keep this list by the same rule
 * and see the same launches in the same order, so the server knows what the host has without asking.
 */
export class RecentBundles<Value> {
  readonly #kept = new Map<string, Value>();

  /** Counts as a use. */
  find(hash: string): Value | undefined {
    const value = this.#kept.get(hash);
    if (value !== undefined) this.#use(hash, value);
    return value;
  }

  add(hash: string, length: number, value: Value): void {
    if (length > maxKeptBundleLength) return;
    this.#use(hash, value);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
  }

  #use(hash: string, value: Value): void {
    this.#kept.delete(hash);
    this.#kept.set(hash, value);
  }
}
