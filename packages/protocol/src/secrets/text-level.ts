import type { SecretAutomaton } from './secret-automaton.ts';

/** Maximum nesting of JSON in JSON, or in the output of a console. */
const maxLevels = 3;
/** Maximum number of spaces before a line. Text with deeper indentation is no longer recognized as one text. */
const maxIndent = 200;

const noUnit = -1;
const backslash = 0x5c;
const newLine = 0x0a;
const space = 0x20;
const [letterU, letterX] = [0x75, 0x78];
/**
 * Sequence with which `util.inspect` splits a string, after the quote. The next line starts with spaces and a quote.
 */
const join: readonly number[] = [noUnit, space, 0x2b, newLine];

const isQuote = (unit: number): boolean => unit === 0x22 || unit === 0x27 || unit === 0x60;
const isSpecial = (unit: number): boolean => unit === backslash || unit === newLine || isQuote(unit);

/** Meanings of the characters that may follow a backslash. */
const plainEscapes = new Int16Array(128).fill(noUnit);
for (const [letter, meant] of [
  'b\b',
  'f\f',
  'n\n',
  'r\r',
  't\t',
  'v\v',
  '0\0',
  '""',
  "''",
  '``',
  '//',
  '\\\\',
])
  plainEscapes[letter?.charCodeAt(0) ?? 0] = meant?.charCodeAt(0) ?? 0;
const plainEscape = (unit: number): number => plainEscapes[unit] ?? noUnit;

/** Position in a text from which reading can continue. */
interface Position {
  readonly state: number;
  readonly count: number;
}

/** Initial size of a level's ring buffer; most texts are short. */
const firstRingLength = 256;

/**
 * Level of a text: the verbatim text, or the unescaped text of the previous level. Unescaping replaces escapes (`
 * `, `\"`, `\x1B`, `\u00e4`), joins strings that `util.inspect` has split into lines (`'…
 * ' +` and the next line), and removes indentation. Whatever printed a value, as JSON, within JSON, or within an
 * object, some level contains it verbatim.
 *
 * A level is only created at the end of its first escape; before that it would equal the previous level.
 */
export class TextLevel {
  readonly #automaton: SecretAutomaton;
  readonly #number: number;
  readonly #note: (start: number, end: number) => void;
  #state = 0;
  /** Number of units read. */
  #count = 0;
  /**
   * Start offsets of the last units in the text: a ring buffer, as long as the longest value and the maximum of pending
   * units.
   */
  #starts = new Int32Array(firstRingLength);
  #next: TextLevel | undefined;
  #pending = new PendingUnits();
  /** Position before the first pending unit. */
  #before: Position = { state: 0, count: 0 };

  constructor(automaton: SecretAutomaton, number: number, note: (start: number, end: number) => void) {
    this.#automaton = automaton;
    this.#number = number;
    this.#note = note;
  }

  /** Reads one unit. `start` and `end` are the offsets of its source in the text. */
  // oxlint-disable-next-line max-params -- called for each unit
  take(unit: number, start: number, end: number): void {
    if (this.#number < maxLevels) {
      if (this.#pending.count > 0) this.#goOn(unit, start, end);
      else this.#begin(unit, start, end);
    }
    this.#state = this.#automaton.next(this.#state, unit);
    if (this.#count === this.#starts.length) this.#growRing();
    this.#starts[this.#count & (this.#starts.length - 1)] = start;
    this.#count += 1;
    const length = this.#automaton.foundAt(this.#state);
    if (length > 0) this.#note(this.#startOf(this.#count - length), end);
  }

  /** Resolves text that only looked like the start of an escape. A truncated escape stays pending. */
  settle(): void {
    if (this.#pending.count === 1 && this.#pending.first !== backslash) this.#giveUp();
    this.#next?.settle();
  }

  /** Marks the end of the text. */
  finish(): void {
    this.#giveUp();
    this.#next?.finish();
  }

  /** Returns the earliest offset at which a value may have started, of which at least `minDepth` units were read. */
  openFrom(minDepth: number): number {
    const own = this.#openAt({ state: this.#state, count: this.#count }, minDepth);
    if (this.#next !== undefined) return Math.min(own, this.#next.openFrom(minDepth));
    return this.#pending.count === 0 ? own : Math.min(own, this.#openAt(this.#before, minDepth));
  }

  /** Returns the earliest undecided offset in the text. */
  undecidedFrom(): number {
    const pending = this.#pending.count === 0 ? Infinity : this.#pending.start;
    return Math.min(this.openFrom(1), pending, this.#next?.undecidedFrom() ?? Infinity);
  }

  #openAt({ state, count }: Position, minDepth: number): number {
    const depth = this.#automaton.depthOf(state);
    return depth < minDepth ? Infinity : this.#startOf(count - depth);
  }

  #startOf(count: number): number {
    return this.#starts[count & (this.#starts.length - 1)] ?? 0;
  }

  #growRing(): void {
    if (this.#starts.length >= this.#automaton.maxLength + maxIndent + firstRingLength) return;
    const longer = new Int32Array(this.#starts.length * 2);
    longer.set(this.#starts);
    this.#starts = longer;
  }

  // oxlint-disable-next-line max-params -- called for each unit
  #begin(unit: number, start: number, end: number): void {
    if (!isSpecial(unit)) return this.#next?.take(unit, start, end);
    this.#before = { state: this.#state, count: this.#count };
    this.#pending.add(unit, start, end);
  }

  // oxlint-disable-next-line max-params -- called for each unit
  #goOn(unit: number, start: number, end: number): void {
    const { first } = this.#pending;
    if (first === backslash) this.#goOnEscape(unit, start, end);
    else if (first === newLine) this.#goOnIndent(unit, start, end);
    else this.#goOnJoin(unit, start, end);
  }

  // oxlint-disable-next-line max-params -- called for each unit
  #goOnEscape(unit: number, start: number, end: number): void {
    const { count } = this.#pending;
    const meant = count === 1 ? plainEscape(unit) : noUnit;
    if (meant !== noUnit) return this.#finish(meant, end);
    const fits = count === 1 ? unit === letterU || unit === letterX : isHexDigit(unit);
    if (!fits) return this.#giveUp(unit, start, end);
    this.#pending.add(unit, start, end);
    const length = this.#pending.second === letterU ? 6 : 4;
    if (count + 1 === length) this.#finish(this.#pending.hexCode(), end);
  }

  // oxlint-disable-next-line max-params -- called for each unit
  #goOnIndent(unit: number, start: number, end: number): void {
    const { count } = this.#pending;
    if (unit === space && count <= maxIndent) return this.#pending.add(unit, start, end);
    if (count === 1 || unit === space) return this.#giveUp(unit, start, end);
    this.#finish(newLine, this.#pending.end);
    this.#begin(unit, start, end);
  }

  // oxlint-disable-next-line max-params -- called for each unit
  #goOnJoin(unit: number, start: number, end: number): void {
    const { count } = this.#pending;
    if (count >= join.length && isQuote(unit)) return this.#finish(noUnit, end);
    const fits = count < join.length ? unit === join[count] : unit === space && count <= maxIndent;
    if (fits) this.#pending.add(unit, start, end);
    else this.#giveUp(unit, start, end);
  }

  /** Replaces the pending units by this unit, or by none. */
  #finish(meant: number, end: number): void {
    const { start } = this.#pending;
    this.#next ??= this.#fork();
    this.#pending.count = 0;
    if (meant !== noUnit) this.#next.take(meant, start, end);
  }

  /** Keeps the pending units verbatim. `unit` is the unit after them, if there is one. */
  // oxlint-disable-next-line max-params -- called for each unit
  #giveUp(unit = noUnit, start = 0, end = 0): void {
    // At the next level, they may form an escape with the following units.
    if (unit === backslash && this.#pending.count > 1) this.#next ??= this.#fork();
    if (this.#next !== undefined) this.#pending.passTo(this.#next);
    this.#pending.count = 0;
    if (unit !== noUnit) this.#begin(unit, start, end);
  }

  /** Creates the next level at the start of the pending units. Up to there, it equals this level. */
  #fork(): TextLevel {
    const next = new TextLevel(this.#automaton, this.#number + 1, this.#note);
    next.#state = this.#before.state;
    next.#count = this.#before.count;
    next.#starts = this.#starts.slice();
    return next;
  }
}

/** Possible escape: its units, and their start and end offsets in the text. */
class PendingUnits {
  count = 0;
  readonly #units: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  get first(): number {
    return this.#units[0] ?? noUnit;
  }

  get second(): number {
    return this.#units[1] ?? noUnit;
  }

  get start(): number {
    return this.#starts[0] ?? 0;
  }

  get end(): number {
    return this.#ends[this.count - 1] ?? 0;
  }

  // oxlint-disable-next-line max-params -- called for each unit
  add(unit: number, start: number, end: number): void {
    this.#units[this.count] = unit;
    this.#starts[this.count] = start;
    this.#ends[this.count] = end;
    this.count += 1;
  }

  /** Returns the number of the hex digits after `\u` or `\x`. */
  hexCode(): number {
    return Number.parseInt(String.fromCharCode(...this.#units.slice(2, this.count)), 16);
  }

  passTo(level: TextLevel): void {
    for (let at = 0; at < this.count; at += 1)
      level.take(this.#units[at] ?? 0, this.#starts[at] ?? 0, this.#ends[at] ?? 0);
  }
}

const isHexDigit = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
