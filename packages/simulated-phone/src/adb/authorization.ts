import { type KeyObject, createPublicKey, publicDecrypt, constants } from 'node:crypto';

const modulusBytes = 256;
const keyBytes = 4 + 4 + modulusBytes + modulusBytes + 4;

/** DER of "a SHA-1 digest follows"; the 20-byte token stands in the digest's place. */
const sha1Prefix = Buffer.from('3021300906052b0e03021a05000414', 'hex');

/** A computer that waits for the user to tap "Allow". */
interface Request {
  readonly key: KeyObject;
  readonly admit: () => void;
}

const maxRequests = 16;

/** The computers that may debug this phone, as "USB debugging" keeps them. */
export class Authorization {
  /** Whether a computer needs an accepted key; without, every computer is let in. */
  required: boolean;
  readonly #keys: KeyObject[] = [];
  #requests: Request[] = [];
  #waiting: (() => void)[] = [];

  constructor(required: boolean) {
    this.required = required;
  }

  /** How many computers wait for "Allow". */
  get requestCount(): number {
    return this.#requests.length;
  }

  isSignedByKnownKey(token: Buffer, signature: Buffer): boolean {
    return this.#keys.some((key) => isTokenSigned(key, token, signature));
  }

  /** Shows the request to the user. Returns false for something that is no key. */
  ask(publicKey: string, admit: () => void): boolean {
    const key = findAndroidPublicKey(publicKey);
    if (!key) return false;
    this.#requests = [...this.#requests, { key, admit }].slice(-maxRequests);
    for (const resolve of this.#waiting.splice(0)) resolve();
    return true;
  }

  /** Resolves when a computer asks, at once when one already does. */
  waitForRequest(): Promise<void> {
    if (this.#requests.length > 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The user taps "Always allow" for every computer that asks. */
  allow(): void {
    for (const request of this.#requests.splice(0)) {
      this.#keys.push(request.key);
      request.admit();
    }
  }

  /** The user taps "Cancel". */
  refuse(): void {
    this.#requests = [];
  }

  /** Trusts a key beforehand. Throws when it is not in Android's format. */
  trust(publicKey: string): void {
    const key = findAndroidPublicKey(publicKey);
    if (!key) throw new Error('This is not an ADB public key: expected the content of an adbkey.pub file.');
    this.#keys.push(key);
  }
}

/**
 * Reads a key in Android's own format (`adbkey.pub`): base64 of word count, n0inv, modulus, R² and
 * exponent, little-endian, then a space and a name. Returns undefined when it is none.
 */
function findAndroidPublicKey(text: string): KeyObject | undefined {
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
function isTokenSigned(key: KeyObject, token: Buffer, signature: Buffer): boolean {
  try {
    const decrypted = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    return decrypted.equals(Buffer.concat([sha1Prefix, token]));
  } catch {
    return false;
  }
}
