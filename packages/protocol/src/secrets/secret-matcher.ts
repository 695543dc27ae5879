import { SecretAutomaton } from './secret-automaton.ts';
import { redactedText, SecretScan } from './secret-scan.ts';

/** Minimum length of a truncated text without a final `…`, in UTF-16 units. */
const minCutLength = 3999;
/** Minimum length of a value's prefix that is redacted: a shorter one reveals nothing, and many texts end with it. */
const minBeginning = 2;

/**
 * Marks of `util.inspect` for truncated strings and of the console for truncated messages. They follow the remaining
 * part.
 */
const cutMark = /['"`]\.\.\. \d{1,12} more character|… \[cut: the message had \d/g;
/** First and last line of a PEM file, which reveal its type but not its content. */
const pemBoundary = /^-----(?:BEGIN|END) [A-Z0-9 ]{1,60}-----$/;
const jsonToken = /"[^"\\]*(?:\\.[^"\\]*)*"|[-\d][-+.\deE]*/g;
const unitsATurn = 16_384;

/**
 * Finds and redacts the values of secrets in texts. Building it takes time proportional to all values, and each search
 * takes time proportional to the text, whatever both contain. A value is found verbatim, as JSON, in JSON nested in
 * JSON, as a console prints it within objects and indented, and by each of its lines of 8 characters or more.
 *
 * All methods are generators that yield every few milliseconds, for callers that have to serve others in between;
 * `whole` runs them in one go.
 *
 * No other code may search for values: `searchText` gives the reason.
 */
export class SecretMatcher {
  /** Automaton of the values; undefined when there are none. */
  readonly #automaton: SecretAutomaton | undefined;

  private constructor(automaton: SecretAutomaton | undefined) {
    this.#automaton = automaton;
  }

  static *building(values: readonly string[]): Generator<void, SecretMatcher> {
    const given = values.filter((value) => value !== '');
    return new SecretMatcher(given.length === 0 ? undefined : yield* SecretAutomaton.building(given));
  }

  get isEmpty(): boolean {
    return this.#automaton === undefined;
  }

  /** Returns whether the text contains a value. The first and last lines of PEM files do not count. */
  *lookingIn(text: string): Generator<void, boolean> {
    if (this.#automaton === undefined) return false;
    const scan = new SecretScan(this.#automaton);
    yield* scan.reading(text);
    scan.finish();
    return scan.spans.some(({ start, end }) => !pemBoundary.test(text.slice(start, end)));
  }

  /**
   * Returns the text with `redactedText` in place of each value, and of a value's prefix at which the text was
   * truncated.
   */
  *redacting(text: string): Generator<void, string> {
    if (this.#automaton === undefined) return text;
    const scan = new SecretScan(this.#automaton);
    let at = 0;
    for (const cut of cutsOf(text)) {
      yield* scan.reading(text.slice(at, cut));
      scan.cut(minBeginning);
      at = cut;
    }
    yield* scan.reading(text.slice(at));
    return scan.pass({ isLast: true });
  }

  /** Redacts the strings of a JSON text, including keys. A number that contains a value becomes `redactedText`. */
  *redactingJson(json: string): Generator<void, string> {
    if (!(yield* this.lookingIn(json))) return json;
    let shown = '';
    let at = 0;
    let turnAt = 0;
    for (const { index, 0: token } of json.matchAll(jsonToken)) {
      shown += json.slice(at, index) + (yield* this.#redactingToken(token));
      at = index + token.length;
      if (at - turnAt < unitsATurn) continue;
      turnAt = at;
      yield;
    }
    return shown + json.slice(at);
  }

  /** Redacts a text that comes in arbitrary parts. The returned function returns what is safe to pass on so far. */
  parts(): (part: string, isLast: boolean) => Generator<void, string> {
    const scan = this.#automaton && new SecretScan(this.#automaton);
    return function* (part, isLast) {
      if (scan === undefined) return part;
      yield* scan.reading(part);
      return scan.pass({ isLast });
    };
  }

  *#hidingIn(text: string): Generator<void, string> {
    if (this.#automaton === undefined) return text;
    const scan = new SecretScan(this.#automaton);
    yield* scan.reading(text);
    return scan.pass({ isLast: true });
  }

  *#redactingToken(token: string): Generator<void, string> {
    if (!(yield* this.lookingIn(token))) return token;
    const text = token.startsWith('"') ? textIn(token) : undefined;
    return JSON.stringify(text === undefined ? redactedText : yield* this.#hidingIn(text));
  }
}

/** Returns the text of a JSON token; undefined when it is invalid JSON. */
function textIn(token: string): string | undefined {
  try {
    return String(JSON.parse(token));
  } catch {
    return undefined;
  }
}

/** Runs a generator in one go, without yielding to others. */
export function whole<Result>(work: Iterator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Returns the places where a text was truncated, in order. */
function cutsOf(text: string): number[] {
  const marks = [...text.matchAll(cutMark)].map(({ index }) => index);
  if (text.endsWith('…')) marks.push(text.length - 1);
  else if (text.length >= minCutLength) marks.push(text.length);
  return marks;
}
