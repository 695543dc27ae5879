import { maxCaptureBytes, maxRunFileBytes } from '@phalanx/protocol';

import { ApiError } from '../../kernel/errors/api-error.ts';
import type { BlobKind } from './captures.ts';

interface ContentCheck {
  push(chunk: Uint8Array): void;
  /** Throws when something is missing. */
  end(): void;
}

/** Start of image, and the first byte of the segment that follows (ISO/IEC 10918-1, annex B). */
const jpegStart = [0xff, 0xd8, 0xff];
/** A box of type `ftyp`, of any size (ISO/IEC 14496-12, 4.3). */
const mp4Start = [undefined, undefined, undefined, undefined, ...Buffer.from('ftyp')];

/** The magic bytes of a format. The rest is the affair of whoever shows it. */
class StartCheck implements ContentCheck {
  readonly #start: readonly (number | undefined)[];
  #seen = 0;

  constructor(start: readonly (number | undefined)[]) {
    this.#start = start;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength && this.#seen < this.#start.length; at += 1, this.#seen += 1) {
      const byte = this.#start[this.#seen];
      if (byte !== undefined && chunk[at] !== byte) throw new SyntaxError('another format');
    }
  }

  end(): void {
    if (this.#seen < this.#start.length) throw new SyntaxError('too short');
  }
}

/** Takes whatever comes. */
const noCheck: ContentCheck = { push: () => undefined, end: () => undefined };

const newChecks: Readonly<Record<BlobKind, () => ContentCheck>> = {
  tree: () => new JsonCheck(),
  screenshot: () => new StartCheck(jpegStart),
  file: () => noCheck,
  picture: () => new StartCheck(jpegStart),
  video: () => new StartCheck(mp4Start),
};

const wrongContent: Readonly<Record<BlobKind, string>> = {
  tree: 'The body is not one JSON object in UTF-8',
  screenshot: 'The body is not a JPEG picture',
  file: 'The body cannot be taken',
  picture: 'The body is not a JPEG picture',
  video: 'The body is not an MP4 file',
};

const limitOf = (kind: BlobKind): number => (kind === 'file' ? maxRunFileBytes : maxCaptureBytes);

function checked(kind: BlobKind, step: () => void): void {
  try {
    step();
  } catch (error) {
    throw ApiError.of('invalid_request', { problem: wrongContent[kind] }, { cause: error });
  }
}

export const tooLarge = (kind: BlobKind): ApiError => ApiError.of('body_too_large', { limit: limitOf(kind) });

/** Passes a body on, and throws as soon as it is not of its kind. */
export async function* checkedBody(
  body: AsyncIterable<Uint8Array>,
  kind: BlobKind,
): AsyncGenerator<Uint8Array> {
  const check = newChecks[kind]();
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > limitOf(kind)) throw tooLarge(kind);
    checked(kind, () => check.push(chunk));
    yield chunk;
  }
  checked(kind, () => check.end());
}

/** Deeper trees are refused: no screen has them, and readers may recurse. */
const maxDepth = 2000;
/** Longer numbers are refused. */
const maxTokenLength = 400;

const token = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const isSpace = (char: string): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t';

/** What may come next, outside of a string. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

/** Checks that a text is one JSON object (RFC 8259), chunk by chunk, so that a large one stops nobody else. */
export class JsonCheck {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #closers: ('}' | ']')[] = [];
  #expected: Expected = 'value';
  #isKey = false;
  /** In a string: undefined outside, '' in plain text, else the escape so far. */
  #escape: string | undefined;
  #token = '';

  /** Throws a `SyntaxError` or a `TypeError` (no UTF-8) at the first mistake. */
  push(chunk: Uint8Array): void {
    for (const char of this.#decoder.decode(chunk, { stream: true })) this.#take(char);
  }

  /** Throws when the text is cut short. */
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
    if (this.#closers.length > maxDepth) fail();
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
