import { maxCaptureBytes, maxRunFileBytes } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { BlobKind } from './captures.ts';
import { JsonCheck } from './json-check.ts';

interface ContentCheck {
  push(chunk: Uint8Array): void;
  /** Throws when the content is incomplete. */
  end(): void;
}

/** JPEG start of image, and the first byte of the segment that follows (ISO/IEC 10918-1, annex B). */
const jpegStart = [0xff, 0xd8, 0xff];
/** MP4 box of type `ftyp`, of any size (ISO/IEC 14496-12, 4.3). */
const mp4Start = [undefined, undefined, undefined, undefined, ...Buffer.from('ftyp')];

/** Checks the magic bytes of a format. The rest is left to the program that shows the file. */
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

/** Accepts any bytes. */
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

/** Passes a body through. Throws as soon as it exceeds its size limit or its content is not of `kind`. */
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
