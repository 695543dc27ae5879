import { randomBytes } from 'node:crypto';
import { v7 as uuidv7, validate, version } from 'uuid';

export const isUuidV7 = (id: string): boolean => validate(id) && version(id) === 7;

/** The time in a UUIDv7 (RFC 9562, section 5.7), epoch ms. */
export const timeOfUuidV7 = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const uuidBytes = 16;

/**
 * Gives `count` UUIDs of the same time, each greater than the one before. Asking the system for random bytes once for
 * all of them takes a tenth of the time.
 */
export function uuidV7Series(count: number, msecs: number): () => string {
  const random = randomBytes(uuidBytes * (count + 1));
  // The upper half of the counter is left to count in.
  let seq = random.readUInt32LE() >>> 1;
  let at = 0;
  return () => {
    at += uuidBytes;
    seq += 1;
    return uuidv7({ msecs, seq, random: random.subarray(at, at + uuidBytes) });
  };
}
