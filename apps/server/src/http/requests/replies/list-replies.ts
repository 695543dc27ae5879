import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Turns } from '../../../kernel/limits/turns.ts';
import type { Principal } from '../principal.ts';

/** A page of a list, ready to be sent. */
export interface EncodedList {
  readonly body: Buffer;
  readonly etag: string;
}

/**
 * Maximum replies of one reading in a turn of the event loop. To send one takes most of a millisecond, and all requests
 * of a user within a second may share a reading: sent at once, 5,000 replies would stop the loop for seconds.
 */
const repliesATurn = 4;

interface Reading {
  readonly encoded: Promise<EncodedList>;
  /** Number of requests that share the reading. */
  sharers: number;
  /** Whether the reading has begun. Later requests cannot join it, because the page may lack newer rows. */
  hasBegun: boolean;
}

/**
 * Reads and encodes pages of lists, a few at a time for each user. Requests of one token for the same page share one
 * reading that has not begun: with turns alone, writes of others wait for 1.0 to 1.8 s (99th percentile) beside six
 * attacks, and for 0.5 to 0.8 s with it (`npm run bench -- hostile --attack together`).
 */
export class ListReplies {
  readonly #turns: Turns;
  /** The newest reading of each page. */
  readonly #readings = new Map<string, Reading>();

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /**
   * Reads a page. `encode` returns the JSON of the page at `url`. Throws if too many requests of the user wait already.
   */
  read({ userId, tokenId }: Principal, url: string, encode: () => Promise<string>): Promise<EncodedList> {
    const key = `${userId} ${tokenId} ${url}`;
    const waiting = this.#readings.get(key);
    if (waiting?.hasBegun === false) return share(waiting);
    const encoded = this.#turns.run(userId, () => begin());
    const reading: Reading = { encoded, sharers: 0, hasBegun: false };
    const begin = async (): Promise<EncodedList> => {
      // Yield to other requests before each page.
      await nextTurn();
      reading.hasBegun = true;
      const text = await encode();
      return { body: Buffer.from(text), etag: `W/"${hash('sha1', text, 'base64url')}"` };
    };
    const forget = (): void => {
      if (this.#readings.get(key) === reading) this.#readings.delete(key);
    };
    this.#readings.set(key, reading);
    encoded.then(forget, forget);
    return share(reading);
  }
}

/** Resumes a few of the sharing requests in each turn of the event loop. */
async function share(reading: Reading): Promise<EncodedList> {
  const turns = Math.floor(reading.sharers / repliesATurn);
  reading.sharers += 1;
  const encoded = await reading.encoded;
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  return encoded;
}
