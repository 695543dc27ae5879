interface Options<Item> {
  /** Maximum number of kinds of a group that are counted separately. */
  maxKinds: number;
  /** Returns the item under which all further kinds are counted. */
  collapse: (item: Item) => Item;
  write: (item: Item, count: number) => void;
}

interface Kind<Item> {
  item: Item;
  /** Number of occurrences since the last write. */
  count: number;
}

/**
 * Counter of items that may come in any number and must not be written as often. The first of each kind is written at
 * once, of the others how many they were.
 */
export class Recurrences<Item> {
  readonly #options: Options<Item>;
  readonly #groups = new Map<string, Map<string, Kind<Item>>>();

  constructor(options: Options<Item>) {
    this.#options = options;
  }

  note(group: string, key: string, item: Item): void {
    const { maxKinds, collapse, write } = this.#options;
    const kinds = this.#groups.get(group) ?? new Map<string, Kind<Item>>();
    this.#groups.set(group, kinds);
    const isKept = kinds.has(key) || kinds.size < maxKinds;
    const name = isKept ? key : 'others';
    const known = kinds.get(name);
    if (known !== undefined) known.count += 1;
    else kinds.set(name, { item: isKept ? item : collapse(item), count: isKept ? 0 : 1 });
    if (isKept && known === undefined) write(item, 1);
  }

  /** Writes the counts since the last flush, and resets them. */
  flush(): void {
    const kinds = [...this.#groups.values()].flatMap((group) => [...group.values()]);
    this.#groups.clear();
    for (const { item, count } of kinds) if (count > 0) this.#options.write(item, count);
  }
}
