import { maxCaptureBytes, maxRunFileBytes } from '@phalanx/protocol';

import { ApiError } from '../errors/api-error.ts';
import type { BlobKind } from './captures.ts';
import { JsonCheck } from './json-check.ts';

interface ContentCheck {
  push(chunk: Uint8Array): void;
  /** Throws when something is missing. */
  end(): void;
}

/** Start of image, and the first byte of the segment that follows (ISO/IEC 10918-1, annex B). */
const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);

/** The magic bytes of a JPEG. The rest is the affair of whoever shows it. */
class JpegCheck implements ContentCheck {
  #seen = 0;

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength && this.#seen < jpegStart.byteLength; at += 1, this.#seen += 1) {
      if (chunk[at] !== jpegStart[this.#seen]) throw new SyntaxError('not a JPEG');
    }
  }

  end(): void {
    if (this.#seen < jpegStart.byteLength) throw new SyntaxError('not a JPEG');
  }
}

/** Takes whatever comes. */
const noCheck: ContentCheck = { push: () => undefined, end: () => undefined };

const newChecks: Readonly<Record<BlobKind, () => ContentCheck>> = {
  tree: () => new JsonCheck(),
  screenshot: () => new JpegCheck(),
  file: () => noCheck,
  picture: () => new JpegCheck(),
};

const wrongContent: Readonly<Record<BlobKind, string>> = {
  tree: 'The body is not one JSON object in UTF-8',
  screenshot: 'The body is not a JPEG picture',
  file: 'The body cannot be taken',
  picture: 'The body is not a JPEG picture',
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
