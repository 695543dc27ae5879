import type { SecretAutomaton } from './secret-automaton.ts';
import { TextLevel } from './text-level.ts';

/** Replacement for the value of a secret. */
export const redactedText = '[secret]';

/** Number of units processed between two yields, which takes some milliseconds. */
const unitsATurn = 16_384;

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Searches one text for values while it arrives. It reads the text verbatim and, where it contains escapes, also
 * unescaped, up to three levels deep in the same pass: see `TextLevel`.
 */
export class SecretScan {
  /** Level of the verbatim text; each level refers to the next one. */
  readonly #first: TextLevel;
  /** Found values, with overlapping ones merged. */
  #spans: Span[] = [];
  /** Text that was not passed on yet, and its offset. */
  #held = '';
  #heldAt = 0;
  #readTo = 0;
  /** Offset up to which `redactedText` has replaced the text. */
  #hiddenTo = 0;

  constructor(automaton: SecretAutomaton) {
    this.#first = new TextLevel(automaton, 0, (start, end) => this.#note(start, end));
  }

  /** Found values in the text that was not passed on yet. */
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

  /**
   * Marks a truncation of the text here: the end of the text counts as found when it is a value's prefix of at least
   * `minDepth` units.
   */
  cut(minDepth: number): void {
    this.#first.settle();
    const start = this.#first.openFrom(minDepth);
    if (start < this.#readTo) this.#note(start, this.#readTo);
  }

  /** Marks the end of the text. */
  finish(): void {
    this.#first.finish();
  }

  /** Returns the redacted text as far as it is decided; all of it at the end of the text. */
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
