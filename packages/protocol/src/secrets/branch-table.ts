/** Random seed of this process, so that nobody can choose values whose branches all collide. */
const seed = Math.floor(Math.random() * 2 ** 31);

/** Hash table with open addressing, from a state and a unit to another state, which is never 0. */
export class BranchTable {
  readonly #mask: number;
  readonly #from: Int32Array;
  readonly #unit: Uint16Array;
  readonly #to: Int32Array;

  constructor(maxBranches: number) {
    const places = 2 ** Math.ceil(Math.log2(2 * maxBranches + 2));
    this.#mask = places - 1;
    this.#from = new Int32Array(places);
    this.#unit = new Uint16Array(places);
    this.#to = new Int32Array(places);
  }

  /** Returns the next state; 0 when there is none. */
  find(from: number, unit: number): number {
    return this.#to[this.#placeOf(from, unit)] ?? 0;
  }

  add(from: number, unit: number, to: number): void {
    const place = this.#placeOf(from, unit);
    this.#from[place] = from;
    this.#unit[place] = unit;
    this.#to[place] = to;
  }

  /** Returns the index of the entry, or of the empty slot where it belongs. */
  #placeOf(from: number, unit: number): number {
    const mixed = Math.imul(Math.imul(from ^ seed, 0x9e37_79b1) ^ unit, 0x85eb_ca6b);
    for (let place = (mixed ^ (mixed >>> 15)) & this.#mask; ; place = (place + 1) & this.#mask) {
      const isEmpty = this.#to[place] === 0;
      if (isEmpty || (this.#from[place] === from && this.#unit[place] === unit)) return place;
    }
  }
}
