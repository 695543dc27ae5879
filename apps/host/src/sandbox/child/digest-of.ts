import { createHash, createHmac } from 'node:crypto';
import type { DigestOrder } from '@phalanx/automation';

/** Node's names of the hashes that the isolate may ask for. */
const names = new Map([
  ['SHA-1', 'sha1'],
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
]);

/** The digest or HMAC of a string of bytes, as another one; undefined for an order that the prelude does not write. */
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
