import type { SecretAutomaton } from './secret-automaton.ts';
import { TextLevel } from './text-level.ts';

/** Stands in the place of a secret's value. */
export const redactedText = '[secret]';

/** Units between two turns of those who read in turns: some milliseconds. */
const unitsATurn = 16_384;

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * One text in which values are looked for, as it comes. It is read as it is and, where it has escapes, once more with what
 * they stand for, up to three levels deep, all at once: see `TextLevel`.
 */
export class SecretScan {
  /** The text as it is; each has the next one. */
  readonly #first: TextLevel;
  /** Found values, with overlapping ones merged. */
  #spans: Span[] = [];
  /** The text that is not passed on yet, and its place. */
  #held = '';
  #heldAt = 0;
  #readTo = 0;
  /** Ends what was passed on as `redactedText`. */
  #hiddenTo = 0;

  constructor(automaton: SecretAutomaton) {
    this.#first = new TextLevel(automaton, 0, (start, end) => this.#note(start, end));
  }

  /** Found values in the text that is not passed on yet. */
  get spans(): readonly Span[] {
    return this.#spans;
  }

  *reading(text: string): Generator<void> {
    this.#held += text;
    const from = this.#readTo;
    this.#readTo += text.length;
    for (let at = 0; at < text.length; at += 1) {
      this.#first.take(text.charCodeAt(at), from + at, from + at + 1);
      if (at % unitsATurn === unitsATurn - 1) yield;
    }
  }

  /** The text was cut here: what it ends with counts as found when it is a beginning of at least so many units. */
  cut(minDepth: number): void {
    this.#first.settle();
    const start = this.#first.openFrom(minDepth);
    if (start < this.#readTo) this.#note(start, this.#readTo);
  }

  /** No more of the text comes. */
  finish(): void {
    this.#first.finish();
  }

  /** Passes on what was read, without the values, as far as it is decided; with the end of the text, all of it. */
  pass({ isLast }: { isLast: boolean }): string {
    if (isLast) this.finish();
    const upTo = isLast ? this.#readTo : Math.min(this.#readTo, this.#first.undecidedFrom());
    const sorted = this.#spans.toSorted((one, other) => one.start - other.start);
    let shown = '';
    let at = Math.max(this.#heldAt, Math.min(upTo, this.#hiddenTo));
    for (const { start, end } of sorted) {
      if (start >= upTo) break;
      if (start >= this.#hiddenTo) shown += this.#textOf(at, start) + redactedText;
      this.#hiddenTo = Math.max(this.#hiddenTo, end);
      at = Math.max(at, Math.min(upTo, this.#hiddenTo));
    }
    shown += this.#textOf(at, upTo);
    this.#held = this.#textOf(upTo, this.#readTo);
    this.#heldAt = upTo;
    this.#spans = sorted.filter(({ start }) => start >= upTo);
    return shown;
  }

  #textOf(start: number, end: number): string {
    return this.#held.slice(start - this.#heldAt, end - this.#heldAt);
  }

  #note(start: number, end: number): void {
    const span = { start, end };
    for (let last = this.#spans.at(-1); last !== undefined; last = this.#spans.at(-1)) {
      if (span.start >= last.end || last.start >= span.end) break;
      span.start = Math.min(span.start, last.start);
      span.end = Math.max(span.end, last.end);
      this.#spans.pop();
    }
    this.#spans.push(span);
  }
}
