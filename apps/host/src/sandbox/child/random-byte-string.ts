import { randomBytes } from 'node:crypto';

/** As in the Web Crypto API: one request may not ask for more. */
const maxRandomBytes = 65_536;

export function randomByteString(sizeBytes: number): string {
  return randomBytes(Math.min(sizeBytes, maxRandomBytes)).toString('latin1');
}
