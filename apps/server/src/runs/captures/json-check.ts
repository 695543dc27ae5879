import { jsonBounds } from '../../http/requests/bodies/json-bounds.ts';

/** Maximum length of a number or keyword, in characters. Longer tokens are refused. */
const maxTokenLength = 400;

const token = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const isSpace = (char: string): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t';

/** Kind of token that may come next, outside of a string. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

/**
 * Checks that a text is one JSON object (RFC 8259). Reads it in chunks, so that a large document does not block the
 * event loop.
 */
export class JsonCheck {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #closers: ('}' | ']')[] = [];
  #expected: Expected = 'value';
  #isKey = false;
  /** State within a string: undefined outside, '' in plain text, else the escape so far. */
  #escape: string | undefined;
  #token = '';

  /** Checks the next chunk. Throws a `SyntaxError`, or a `TypeError` for invalid UTF-8, at the first mistake. */
  push(chunk: Uint8Array): void {
    for (const char of this.#decoder.decode(chunk, { stream: true })) this.#take(char);
  }

  /** Ends the check. Throws when the text is truncated. */
  end(): void {
    for (const char of this.#decoder.decode()) this.#take(char);
    if (this.#expected !== 'end' || this.#escape !== undefined) fail();
  }

  #take(char: string): void {
    if (this.#escape !== undefined) return this.#takeInString(char);
    if (/[-+.\w]/.test(char)) return this.#takeToken(char);
    if (this.#token !== '') this.#endToken();
    if (isSpace(char)) return;
    if (char === '"') this.#openString();
    else if (char === '{' || char === '[') this.#open(char);
    else if (char === '}' || char === ']') this.#close(char);
    else this.#separate(char);
  }

  #takeInString(char: string): void {
    if (this.#escape === '') {
      if (char === '"') this.#closeString();
      else if (char === '\\') this.#escape = char;
      else if (char < ' ') fail();
      return;
    }
    const escape: string = this.#escape + char;
    const isWhole = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})$/.test(escape);
    if (!isWhole && !/^\\u[0-9a-fA-F]{0,3}$/.test(escape)) fail();
    this.#escape = isWhole ? '' : escape;
  }

  #takeToken(char: string): void {
    if (this.#token === '') this.#requireValue();
    this.#token += char;
    if (this.#token.length > maxTokenLength) fail();
  }

  #endToken(): void {
    if (!token.test(this.#token)) fail();
    this.#token = '';
    this.#endValue();
  }

  #requireValue(): void {
    const isInside = this.#closers.length > 0;
    if (!isInside || (this.#expected !== 'value' && this.#expected !== 'value or ]')) fail();
  }

  #openString(): void {
    this.#isKey = this.#expected === 'key' || this.#expected === 'key or }';
    if (!this.#isKey) this.#requireValue();
    this.#escape = '';
  }

  #closeString(): void {
    this.#escape = undefined;
    if (this.#isKey) this.#expected = 'colon';
    else this.#endValue();
  }

  #open(char: '{' | '['): void {
    const isRoot = this.#closers.length === 0 && this.#expected === 'value' && char === '{';
    if (!isRoot) this.#requireValue();
    this.#closers.push(char === '{' ? '}' : ']');
    if (this.#closers.length > jsonBounds.screen.depth) fail();
    this.#expected = char === '{' ? 'key or }' : 'value or ]';
  }

  #close(char: '}' | ']'): void {
    const isEmpty = this.#expected === (char === '}' ? 'key or }' : 'value or ]');
    if ((!isEmpty && this.#expected !== 'comma') || this.#closers.pop() !== char) fail();
    this.#endValue();
  }

  #separate(char: string): void {
    if (char === ':' && this.#expected === 'colon') this.#expected = 'value';
    else if (char === ',' && this.#expected === 'comma')
      this.#expected = this.#closers.at(-1) === '}' ? 'key' : 'value';
    else fail();
  }

  #endValue(): void {
    this.#expected = this.#closers.length === 0 ? 'end' : 'comma';
  }
}

function fail(): never {
  throw new SyntaxError('not a JSON object');
}
