const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex -- these characters end a header line
const forbiddenInValue = /[\0\r\n]/;

/** Returns the names in their original spelling and order, for the console. */
export let writtenHeaders: (headers: PlainHeaders) => [name: string, value: string][];

/** Headers with names compared in lower case, as the standard exposes them; values of one name are joined by commas. */
export class PlainHeaders implements Headers {
  readonly #values = new Map<string, string[]>();
  readonly #names = new Map<string, string>();

  static {
    writtenHeaders = (headers) => Array.from(headers.#names, ([key, name]) => [name, headers.get(key) ?? '']);
  }

  constructor(init: HeadersInit = {}) {
    const entries = isIterable(init) ? init : Object.entries(init);
    for (const [name, value] of entries) this.append(name, value);
  }

  append(name: string, value: string): void {
    const key = nameOf(name);
    this.#values.set(key, [...(this.#values.get(key) ?? []), valueOf(key, value)]);
    if (!this.#names.has(key)) this.#names.set(key, String(name));
  }

  delete(name: string): void {
    this.#values.delete(nameOf(name));
    this.#names.delete(nameOf(name));
  }

  get(name: string): string | null {
    return this.#values.get(nameOf(name))?.join(', ') ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  has(name: string): boolean {
    return this.#values.has(nameOf(name));
  }

  set(name: string, value: string): void {
    const key = nameOf(name);
    this.#values.set(key, [valueOf(key, value)]);
    if (!this.#names.has(key)) this.#names.set(key, String(name));
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, thisArg?: unknown): void {
    for (const [name, value] of this) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of [...this.#values.keys()].sort()) {
      const values = this.#values.get(name) ?? [];
      if (name === 'set-cookie') for (const value of values) yield [name, value];
      else yield [name, values.join(', ')];
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

function isIterable(init: HeadersInit): init is Iterable<readonly [string, string]> {
  return Symbol.iterator in init;
}

function nameOf(name: string): string {
  const text = String(name);
  if (!tokenPattern.test(text)) throw new TypeError(`Invalid header name: ${JSON.stringify(text)}.`);
  return text.toLowerCase();
}

function valueOf(name: string, value: string): string {
  const text = String(value).replaceAll(/^[\t ]+|[\t ]+$/g, '');
  if (forbiddenInValue.test(text))
    throw new TypeError(`The value of the header ${name} has a line break or NUL.`);
  // A header is sent as bytes; other characters would be changed silently.
  if (/[^\0-ÿ]/.test(text))
    throw new TypeError(`The value of the header ${name} has a character above U+00FF.`);
  return text;
}
