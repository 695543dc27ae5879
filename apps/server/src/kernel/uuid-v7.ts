import { randomBytes } from 'node:crypto';
import { validate, version } from 'uuid';

export const isUuidV7 = (id: string): boolean => validate(id) && version(id) === 7;

/** Returns the time of a UUIDv7 (RFC 9562, section 5.7), epoch ms. */
export const timeOfUuidV7 = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The counter fills the 12 bits of `rand_a` and the first 18 of `rand_b` (RFC 9562, section 6.2, method 1). */
const counterBits = 30;
const maxCounter = 2 ** counterBits - 1;
/** The counter of a new millisecond starts low, to leave room for increments. */
const counterSeedBits = 16;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

const lastTimeMs = 2 ** 48 - 1;

/** Returns a UUID that sorts before every UUIDv7 of this time or later, and after all earlier ones. */
export function beginningOfUuidV7(timeMs: number): string {
  const time = hex(Math.min(Math.max(0, Math.floor(timeMs)), lastTimeMs), 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** Makes UUIDv7s, each greater than the one before as text, whatever the clock does. */
export class IncreasingIds {
  #timeMs = 0;
  #counter = 0;
  #tail = '';
  #prefix = '';

  /** Makes later IDs greater than `lastId`, an ID of an earlier process. */
  resumeAfter(lastId: string): void {
    const timeMs = timeOfUuidV7(lastId);
    if (timeMs < this.#timeMs) return;
    this.#startMillisecond(timeMs + 1);
  }

  next(nowMs: number): string {
    if (nowMs > this.#timeMs) this.#startMillisecond(nowMs);
    else if (this.#counter === maxCounter) this.#startMillisecond(this.#timeMs + 1);
    else this.#counter += 1;
    return this.#format();
  }

  #startMillisecond(timeMs: number): void {
    this.#timeMs = timeMs;
    const random = randomBytes(8);
    this.#counter = random.readUInt16BE(0) >>> (16 - counterSeedBits);
    this.#prefix = this.#makePrefix();
    this.#tail = hex(random.readUIntBE(2, 6) % 2 ** 44, 11);
  }

  #format(): string {
    const low = this.#counter & 0x3ffff;
    // 2 bits of variant (binary 10) and 14 of the counter; then its last 4 bits and the random tail.
    if (low === 0) this.#prefix = this.#makePrefix();
    return `${this.#prefix}${(0x8000 | (low >>> 4)).toString(16)}-${(low & 0xf).toString(16)}${this.#tail}`;
  }

  #makePrefix(): string {
    const time = hex(this.#timeMs, 12);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(this.#counter >>> 18, 3)}-`;
  }
}
