/** Waiting work by key. The keys take turns, so that a long queue of one does not hold up the others. */
export class FairQueue<Item> {
  readonly #waiting = new Map<string, Item[]>();

  add(key: string, item: Item): void {
    const items = this.#waiting.get(key);
    if (items === undefined) this.#waiting.set(key, [item]);
    else items.push(item);
  }

  /** Puts back what was taken and could not be done. */
  addFirst(key: string, item: Item): void {
    this.#waiting.set(key, [item, ...(this.#waiting.get(key) ?? [])]);
  }

  /** The next item of each key, in the order of their turns. */
  *heads(): Iterable<readonly [key: string, item: Item]> {
    for (const [key, [item]] of this.#waiting) if (item !== undefined) yield [key, item];
  }

  /** Takes the next item of `key`; the key goes to the end of the order. */
  take(key: string): Item | undefined {
    const items = this.#waiting.get(key) ?? [];
    const item = items.shift();
    this.#waiting.delete(key);
    if (items.length > 0) this.#waiting.set(key, items);
    return item;
  }

  takeAll(): Item[] {
    const items = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    return items;
  }
}
