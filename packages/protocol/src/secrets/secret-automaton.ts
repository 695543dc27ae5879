import { BranchTable } from './branch-table.ts';

/** A line of a value counts as a value of its own when it has so many letters. */
const minLineLength = 8;

/** Units between two turns of those who build in turns: some milliseconds. */
const unitsATurn = 16_384;

const noUnit = 0x2_00_00;
const hasBranches = 0x1_00_00;
const unitMask = 0x2_ff_ff;

/**
 * Looks for many values at once (the automaton of Aho and Corasick over UTF-16 units): each unit of a text costs the same,
 * whatever the text and the values are. A state stands for the longest beginning of a value at which the text ends.
 *
 * A hundred values of 8,192 units are a million and a half states, so there is no table of states and units: the states of
 * a value follow one another, and only where values part their branches are looked up.
 */
export class SecretAutomaton {
  /** By state: the unit that leads to the next number, and whether there are branches. */
  readonly #chain: Int32Array;
  readonly #branches: BranchTable;
  /** By state: the state of the longest shorter beginning at which the text ends as well. While it is built, the parent. */
  readonly #fallback: Int32Array;
  readonly #depth: Uint16Array;
  /** By state: the length of the longest value that ends there, or 0. */
  readonly #found: Uint16Array;
  /** Length of the longest value, in UTF-16 units. */
  readonly maxLength: number;
  #last = 0;

  private constructor(patterns: ReadonlySet<string>) {
    let states = 1;
    let maxLength = 0;
    for (const { length } of patterns) [states, maxLength] = [states + length, Math.max(maxLength, length)];
    this.#chain = new Int32Array(states).fill(noUnit);
    this.#fallback = new Int32Array(states);
    this.#depth = new Uint16Array(states);
    this.#found = new Uint16Array(states);
    this.#branches = new BranchTable(patterns.size);
    this.maxLength = maxLength;
  }

  /** Builds it in turns of some milliseconds. `values`: of at most 65,535 units each. */
  static *building(values: readonly string[]): Generator<void, SecretAutomaton> {
    const patterns = new Set<string>();
    for (const value of values) {
      for (const pattern of patternsOf(value)) patterns.add(pattern);
      yield;
    }
    const made = new SecretAutomaton(patterns);
    const units = new Uint16Array(made.#chain.length);
    let added = 0;
    for (const pattern of patterns) {
      made.#add(pattern, units);
      added += pattern.length;
      if (added < unitsATurn) continue;
      added = 0;
      yield;
    }
    yield* made.#linking(units);
    return made;
  }

  /** The state after one more unit of the text; 0 is the first one. */
  next(before: number, unit: number): number {
    for (let state = before; ; state = this.#fallback[state] ?? 0) {
      const child = this.#childOf(state, unit);
      if (child !== 0 || state === 0) return child;
    }
  }

  /** How many units of a value the text ends with. */
  depthOf(state: number): number {
    return this.#depth[state] ?? 0;
  }

  /** The length of the longest whole value that the text ends with, or 0. */
  foundAt(state: number): number {
    return this.#found[state] ?? 0;
  }

  #add(pattern: string, units: Uint16Array): void {
    let state = 0;
    for (let at = 0; at < pattern.length; at += 1) {
      const unit = pattern.charCodeAt(at);
      const child = this.#childOf(state, unit);
      state = child === 0 ? this.#grow(state, unit) : child;
      units[state] = unit;
    }
    this.#found[state] = pattern.length;
  }

  /** 0: there is none. */
  #childOf(state: number, unit: number): number {
    const link = this.#chain[state] ?? noUnit;
    if ((link & unitMask) === unit) return state + 1;
    return (link & hasBranches) === 0 ? 0 : this.#branches.find(state, unit);
  }

  #grow(from: number, unit: number): number {
    this.#last += 1;
    this.#depth[this.#last] = this.depthOf(from) + 1;
    this.#fallback[this.#last] = from;
    if (from + 1 === this.#last) {
      this.#chain[from] = unit;
      return this.#last;
    }
    this.#branches.add(from, unit, this.#last);
    this.#chain[from] = (this.#chain[from] ?? noUnit) | hasBranches;
    return this.#last;
  }

  /** Puts the fallback of each state in the place of its parent, the shorter ones first. */
  *#linking(units: Uint16Array): Generator<void> {
    const order = this.#byDepth();
    yield;
    for (let at = 0; at < order.length; at += 1) {
      if (at % unitsATurn === unitsATurn - 1) yield;
      const state = order[at] ?? 0;
      const parent = this.#fallback[state] ?? 0;
      const fallback = parent === 0 ? 0 : this.next(this.#fallback[parent] ?? 0, units[state] ?? 0);
      this.#fallback[state] = fallback;
      if (this.#found[state] === 0) this.#found[state] = this.foundAt(fallback);
    }
  }

  /** All states but the first one. */
  #byDepth(): Int32Array {
    const ends = new Int32Array(this.maxLength + 2);
    for (let state = 1; state <= this.#last; state += 1) {
      const place = this.depthOf(state) + 1;
      ends[place] = (ends[place] ?? 0) + 1;
    }
    for (let depth = 1; depth < ends.length; depth += 1)
      ends[depth] = (ends[depth] ?? 0) + (ends[depth - 1] ?? 0);
    const order = new Int32Array(this.#last);
    for (let state = 1; state <= this.#last; state += 1) {
      const depth = this.depthOf(state);
      const place = ends[depth] ?? 0;
      order[place] = state;
      ends[depth] = place + 1;
    }
    return order;
  }
}

/** A value, the same without indentation, and its lines: they are printed indented, and one by one. */
function patternsOf(value: string): string[] {
  if (!/[\r\n]/.test(value)) return [value];
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  const long = lines.filter(({ length }) => length >= minLineLength);
  return [value, value.replaceAll(/\n +/g, '\n'), ...long];
}
