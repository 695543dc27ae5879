import { createHmac, timingSafeEqual } from 'node:crypto';
import { recordRoutes } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { CaptureKey } from './captures.ts';
import type { Clock } from '../../kernel/clock.ts';

interface Options {
  key: Buffer;
  clock: Clock;
  /** Public base of the URLs, without a trailing slash. */
  base: () => string;
}

interface Signature {
  /** Epoch seconds. */
  expires: string;
  signature: string;
}

/** Minimum validity of a URL, in seconds: a day. */
const validSeconds = 24 * 60 * 60;
/** Period in which a capture keeps its URL, in seconds, so that browsers can cache it. */
const stableSeconds = 6 * 60 * 60;

/** Signs and verifies temporary URLs of single captures, which a browser can read without an `Authorization` header. */
export class SignedUrls {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  urlOf({ recordId, screenId, kind }: CaptureKey): string {
    const { base, clock } = this.#options;
    const startOfPeriod = Math.floor(clock.now() / 1000 / stableSeconds) * stableSeconds;
    const expires = String(startOfPeriod + stableSeconds + validSeconds);
    const signature = this.#sign({ recordId, screenId, kind }, expires);
    const path = recordRoutes.readCapture.path
      .replace(':record_id', recordId)
      .replace(':screen_id', screenId)
      .replace(':kind', kind);
    return `${base()}${path}?expires=${expires}&signature=${signature}`;
  }

  /**
   * Verifies a URL. Returns its remaining validity in seconds. Throws `capture_url_invalid` or `capture_url_expired`.
   */
  check(key: CaptureKey, { expires, signature }: Signature): number {
    const expected = Buffer.from(this.#sign(key, expires));
    const given = Buffer.from(signature);
    // Compares the texts, not the decoded bytes: several base64 texts decode to the same bytes.
    if (given.byteLength !== expected.byteLength || !timingSafeEqual(given, expected))
      throw ApiError.of('capture_url_invalid', {});
    const leftSeconds = Math.floor(Number(expires) - this.#options.clock.now() / 1000);
    if (leftSeconds <= 0) throw ApiError.of('capture_url_expired', {});
    return leftSeconds;
  }

  #sign({ recordId, screenId, kind }: CaptureKey, expires: string): string {
    return createHmac('sha256', this.#options.key)
      .update(`capture ${recordId} ${screenId} ${kind} ${expires}`)
      .digest('base64url');
  }
}
