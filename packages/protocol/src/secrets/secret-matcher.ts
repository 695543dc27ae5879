import { SecretAutomaton } from './secret-automaton.ts';
import { redactedText, SecretScan } from './secret-scan.ts';

/** Text of a run that was cut ends with `…`, or is at least so long. */
const minCutLength = 3999;
/** A shorter beginning of a value tells nothing, and stands at the end of many texts. */
const minBeginning = 2;

/**
 * Marks at which `util.inspect` cuts long strings and the console cuts long messages: they follow the part that
 * is left.
 */
const cutMark = /['"`]\.\.\. \d{1,12} more character|… \[cut: the message had \d/g;
/** Says what stands in a PEM file, and nothing of it. */
const pemBoundary = /^-----(?:BEGIN|END) [A-Z0-9 ]{1,60}-----$/;
const jsonToken = /"[^"\\]*(?:\\.[^"\\]*)*"|[-\d][-+.\deE]*/g;
const unitsATurn = 16_384;

/**
 * The values of secrets, as they are looked for in texts: built once for many texts, in time that is proportional to all
 * values, and asked in time that is proportional to the text, whatever both are. A value is found as it is, as JSON, within
 * JSON within JSON, as a console prints it within objects and indented, and by each of its lines of 8 letters or more.
 *
 * Everything is a generator that yields every few milliseconds, for those who have others to serve in between; `whole`
 * does it at once.
 *
 * Nothing else looks for values: `searchText` has the reason.
 */
export class SecretMatcher {
  /** Undefined: there are no values. */
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

  /** Whether a value is in the text. Lines that say only what a PEM file is do not count. */
  *lookingIn(text: string): Generator<void, boolean> {
    if (this.#automaton === undefined) return false;
    const scan = new SecretScan(this.#automaton);
    yield* scan.reading(text);
    scan.finish();
    return scan.spans.some(({ start, end }) => !pemBoundary.test(text.slice(start, end)));
  }

  /** The text with `redactedText` for each value, and for the beginning of one at which the text was cut. */
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

  /** The JSON text with the same in its strings, keys too. A number that has a value in it becomes `redactedText`. */
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

  /** For a text that comes in parts, wherever they are divided. The function returns what is safe to pass on so far. */
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

/** Undefined: it is no JSON. */
function textIn(token: string): string | undefined {
  try {
    return String(JSON.parse(token));
  } catch {
    return undefined;
  }
}

/** Does at once what could be done in turns. */
export function whole<Result>(work: Iterator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** The places where a text was cut, in order. */
function cutsOf(text: string): number[] {
  const marks = [...text.matchAll(cutMark)].map(({ index }) => index);
  if (text.endsWith('…')) marks.push(text.length - 1);
  else if (text.length >= minCutLength) marks.push(text.length);
  return marks;
}
