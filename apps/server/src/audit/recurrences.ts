interface Options<Item> {
  /** So many kinds of a group are told apart. */
  mostKinds: number;
  /** What stands for all kinds beyond these. */
  blur: (item: Item) => Item;
  write: (item: Item, count: number) => void;
}

interface Kind<Item> {
  item: Item;
  /** How often it has come since it was last written. */
  count: number;
}

/**
 * What may come in any number and must not be written as often: the first of each kind is written at once, of the
 * others how many they were.
 */
export class Recurrences<Item> {
  readonly #options: Options<Item>;
  readonly #groups = new Map<string, Map<string, Kind<Item>>>();

  constructor(options: Options<Item>) {
    this.#options = options;
  }

  note(group: string, key: string, item: Item): void {
    const { mostKinds, blur, write } = this.#options;
    const kinds = this.#groups.get(group) ?? new Map<string, Kind<Item>>();
    this.#groups.set(group, kinds);
    const isKept = kinds.has(key) || kinds.size < mostKinds;
    const name = isKept ? key : 'others';
    const known = kinds.get(name);
    if (known !== undefined) known.count += 1;
    else kinds.set(name, { item: isKept ? item : blur(item), count: isKept ? 0 : 1 });
    if (isKept && known === undefined) write(item, 1);
  }

  /** Writes what has come since, and begins anew. */
  flush(): void {
    const kinds = [...this.#groups.values()].flatMap((group) => [...group.values()]);
    this.#groups.clear();
    for (const { item, count } of kinds) if (count > 0) this.#options.write(item, count);
  }
}
