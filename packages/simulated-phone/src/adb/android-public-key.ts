import { createPublicKey, type KeyObject, publicDecrypt, constants } from 'node:crypto';

const modulusBytes = 256;
const keyBytes = 4 + 4 + modulusBytes + modulusBytes + 4;

/** DER of "a SHA-1 digest follows"; the 20-byte token stands in the digest's place. */
const sha1Prefix = Buffer.from('3021300906052b0e03021a05000414', 'hex');

/**
 * Reads a key in Android's own format (`adbkey.pub`): base64 of word count, n0inv, modulus, R² and
 * exponent, little-endian, then a space and a name. Returns undefined when it is none.
 */
export function findAndroidPublicKey(text: string): KeyObject | undefined {
  const base64 = text.replace(/\0+$/, '').trim().split(/\s+/, 1)[0] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== keyBytes || bytes.readUInt32LE(0) !== modulusBytes / 4) return undefined;
  const modulus = Buffer.from(bytes.subarray(8, 8 + modulusBytes).toReversed());
  const exponent = Buffer.alloc(4);
  exponent.writeUInt32BE(bytes.readUInt32LE(keyBytes - 4));
  try {
    const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: exponent.toString('base64url') };
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** True when the signature was made over the token with the private half of the key. */
export function isTokenSigned(key: KeyObject, token: Buffer, signature: Buffer): boolean {
  try {
    const decrypted = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    return decrypted.equals(Buffer.concat([sha1Prefix, token]));
  } catch {
    return false;
  }
}
