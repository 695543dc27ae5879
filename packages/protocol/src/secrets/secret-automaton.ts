import { BranchTable } from './branch-table.ts';

/** Minimum length of a value's line, in characters, that is also searched for on its own. */
const minLineLength = 8;

/** Number of units processed between two yields, which takes some milliseconds. */
const unitsATurn = 16_384;

const noUnit = 0x2_00_00;
const hasBranches = 0x1_00_00;
const unitMask = 0x2_ff_ff;

/**
 * Searches for many values at once (the Aho-Corasick automaton over UTF-16 units). Each unit of a text costs the same,
 * whatever the text and the values are. A state represents the longest prefix of a value that is a suffix of the text.
 *
 * A hundred values of 8,192 units have a million and a half states, so a table of states by units would be too large.
 * Instead, the states of a value are consecutive, and branches are looked up only where values diverge.
 */
export class SecretAutomaton {
  /** Unit that leads from a state to the next number, and a flag for branches. */
  readonly #chain: Int32Array;
  readonly #branches: BranchTable;
  /** State of the longest shorter prefix that is also a suffix of the text, by state. During the build, the parent. */
  readonly #fallback: Int32Array;
  readonly #depth: Uint16Array;
  /** Length of the longest value that ends in a state, or 0. */
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

  /** Builds the automaton, and yields every few milliseconds. Each value may have at most 65,535 units. */
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

  /** Returns the state after one more unit of the text; 0 is the initial state. */
  next(before: number, unit: number): number {
    for (let state = before; ; state = this.#fallback[state] ?? 0) {
      const child = this.#childOf(state, unit);
      if (child !== 0 || state === 0) return child;
    }
  }

  /** Returns the number of a value's units with which the text ends. */
  depthOf(state: number): number {
    return this.#depth[state] ?? 0;
  }

  /** Returns the length of the longest complete value with which the text ends, or 0. */
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

  /** Returns the child state; 0 when there is none. */
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

  /** Replaces the parent of each state by its fallback, in order of depth. */
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

  /** Returns all states except the initial one, in order of depth. */
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

/**
 * Returns a value, the value without indentation, and its lines, because values are printed indented and line by line.
 */
function patternsOf(value: string): string[] {
  if (!/[\r\n]/.test(value)) return [value];
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  const long = lines.filter(({ length }) => length >= minLineLength);
  return [value, value.replaceAll(/\n +/g, '\n'), ...long];
}
