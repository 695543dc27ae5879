import { maxCaptureBytes, type CaptureKind } from '@phalanx/protocol';

import { ApiError } from '../errors/api-error.ts';
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

const newCheck = (kind: CaptureKind): ContentCheck => (kind === 'tree' ? new JsonCheck() : new JpegCheck());

const wrongContent: Readonly<Record<CaptureKind, string>> = {
  tree: 'The body is not one JSON object in UTF-8',
  screenshot: 'The body is not a JPEG picture',
};

function checked(kind: CaptureKind, step: () => void): void {
  try {
    step();
  } catch (error) {
    throw ApiError.of('invalid_request', { problem: wrongContent[kind] }, { cause: error });
  }
}

export const tooLarge = (): ApiError => ApiError.of('body_too_large', { limit: maxCaptureBytes });

/** Passes a body on, and throws as soon as it is not a capture of its kind. */
export async function* checkedBody(
  body: AsyncIterable<Uint8Array>,
  kind: CaptureKind,
): AsyncGenerator<Uint8Array> {
  const check = newCheck(kind);
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxCaptureBytes) throw tooLarge();
    checked(kind, () => check.push(chunk));
    yield chunk;
  }
  checked(kind, () => check.end());
}
