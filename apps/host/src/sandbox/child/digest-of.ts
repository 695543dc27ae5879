import { createHash, createHmac } from 'node:crypto';
import type { DigestOrder } from '@phalanx/automation';

/** Node's names of the hashes that the isolate may request. */
const names = new Map([
  ['SHA-1', 'sha1'],
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
]);

/**
 * Returns the digest or HMAC of a byte string, as a byte string. Undefined for an order that the prelude never sends.
 */
export function digestOf({ hash, keyBytes }: DigestOrder, body = ''): string | undefined {
  const name = names.get(hash);
  if (name === undefined) return undefined;
  const bytes = Buffer.from(body, 'latin1');
  const digest =
    keyBytes === null
      ? createHash(name).update(bytes)
      : createHmac(name, bytes.subarray(0, keyBytes)).update(bytes.subarray(keyBytes));
  return digest.digest().toString('latin1');
}
