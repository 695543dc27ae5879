import { hash as digest, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'phx_';
const randomLength = 33;
const checksumLength = 6;

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  while (text.length < length) {
    text = (alphabet[Number(rest % 62n)] ?? '0') + text;
    rest /= 62n;
  }
  return text;
}

const checksum = (random: string): string => base62(BigInt(crc32(random)), checksumLength);

/** Returns 192 random bits with a checksum, by which a scanner recognises a leaked token. */
export function createTokenSecret(): string {
  const random = base62(BigInt(`0x${randomBytes(24).toString('hex')}`), randomLength);
  return `${prefix}${random}${checksum(random)}`;
}

/** True for a well-formed token, which cannot be found by guessing. */
export const isWholeSecret = (secret: string): boolean =>
  secret.startsWith(prefix) && !isDamagedSecret(secret);

/** True for a text with the prefix of a token that is not well-formed. */
export function isDamagedSecret(secret: string): boolean {
  if (!secret.startsWith(prefix)) return false;
  const random = secret.slice(prefix.length, -checksumLength);
  return random.length !== randomLength || !secret.endsWith(checksum(random));
}

/** The only form in which a token is stored. One plain hash is enough: the secret is random, not a password. */
export function hashTokenSecret(secret: string): string {
  return digest('sha256', secret, 'hex');
}
