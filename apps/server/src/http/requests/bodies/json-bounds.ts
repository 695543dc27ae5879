/** Limits of JSON from outside before it is parsed: to parse, to check and to walk it costs far more than to count. */
export interface JsonBounds {
  /** Nesting depth of lists and objects. */
  readonly depth: number;
  /** Number of field names in all objects. */
  readonly names: number;
  /** Number of items and fields in all lists and objects. */
  readonly values: number;
  /** Number of objects. Default: unlimited. */
  readonly objects?: number;
}

/** 20,000 nodes, each with its bounds on the screen. Their bytes have room for far more fields. */
const nodes = { names: 250_000, values: 300_000, objects: 2 * 20_000 + 10 };

/** Bounds of each kind of JSON. */
export const jsonBounds = {
  /**
   * Ten thousand files in one body have twenty thousand names, and an empty object takes as long as one with a name.
   */
  body: { depth: 64, names: 25_000, values: 200_000, objects: 25_000 },
  /** A full page of a host, with twelve names for each run or phone. */
  hostMessage: { depth: 64, names: 100_000, values: 200_000, objects: 100_000 },
  screen: { ...nodes, depth: 2000 },
  goldenScreen: { ...nodes, depth: 1000 },
  /** Masks, each with an area. They fit more than a hundred, so that an error can say that there are too many. */
  masks: { depth: 8, names: 2000, values: 2000 },
  /** A table of ten columns with all rows that one job may have. */
  inputs: { depth: 64, names: 100_000, values: 200_000 },
  /** A schema of parameters. Each level of objects takes two levels of `depth`. */
  parametersSchema: { depth: 64, names: 10_000, values: 10_000 },
  /** A file of a project. It is nested more deeply than code, because nobody writes data by hand. */
  file: { depth: 1000, names: Infinity, values: Infinity },
} as const satisfies Record<string, JsonBounds>;

const quote = 0x22;
const backslash = 0x5c;
const [comma, colon, openList, closeList, openObject, closeObject] = [0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Finds the first excess beyond the bounds, as the end of a sentence that begins with "it". Takes about a nanosecond a
 * byte.
 */
export const findExcess = (bytes: Uint8Array, bounds: JsonBounds = jsonBounds.body): string | undefined =>
  new JsonScan(bounds).push(bytes);

/** Counts JSON that arrives in pieces. */
export class JsonScan {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #names = 0;
  #values = 0;
  #objects = 0;
  #bytes = 0;
  #isInText = false;
  /** Whether the last piece ended with the backslash of an escape. */
  #isEscaping = false;
  #textBytes = 0;
  #maxTextLength = 0;

  constructor(bounds: JsonBounds = jsonBounds.body) {
    this.#bounds = bounds;
  }

  /** Number of values so far, as bounds count them. */
  get values(): number {
    return this.#values;
  }

  /** Length of the JSON without its longest text; it never decreases. */
  get bytesAroundText(): number {
    return this.#bytes - Math.max(this.#maxTextLength, this.#textBytes);
  }

  /** Returns the excess beyond the bounds with this piece. */
  push(piece: Uint8Array): string | undefined {
    this.#bytes += piece.length;
    for (let at = 0; at < piece.length; at += 1) {
      if (this.#isInText) at = this.#passText(piece, at);
      else if (piece[at] === quote) this.#isInText = true;
      else this.#count(piece[at]);
      const excess = this.#excess();
      if (excess !== undefined) return excess;
    }
    return undefined;
  }

  /** Returns where the text ends, or the piece. */
  #passText(piece: Uint8Array, from: number): number {
    let at = this.#isEscaping ? from + 1 : from;
    while (at < piece.length && piece[at] !== quote) at += piece[at] === backslash ? 2 : 1;
    this.#isEscaping = at > piece.length;
    this.#isInText = at >= piece.length;
    this.#textBytes += Math.min(at, piece.length) - from;
    if (this.#isInText) return at;
    this.#maxTextLength = Math.max(this.#maxTextLength, this.#textBytes);
    this.#textBytes = 0;
    return at;
  }

  #count(byte: number | undefined): void {
    if (byte === openList || byte === openObject) this.#depth += 1;
    else if (byte === closeList || byte === closeObject) this.#depth -= 1;
    else if (byte === comma) this.#values += 1;
    else if (byte === colon) this.#names += 1;
    if (byte === openObject) this.#objects += 1;
  }

  #excess(): string | undefined {
    const { depth, names, values, objects = Infinity } = this.#bounds;
    if (this.#depth > depth) return `is nested more than ${depth} levels deep`;
    if (this.#names > names) return `has more than ${names} names of fields`;
    if (this.#objects > objects) return `has more than ${objects} objects`;
    if (this.#values > values) return `has more than ${values} values`;
    return undefined;
  }
}
