import { type KeyObject, createPublicKey, publicDecrypt, constants } from 'node:crypto';

const modulusBytes = 256;
const keyBytes = 4 + 4 + modulusBytes + modulusBytes + 4;

/** DER prefix of a SHA-1 digest; the 20-byte token takes the place of the digest. */
const sha1Prefix = Buffer.from('3021300906052b0e03021a05000414', 'hex');

/** Computer that waits for the user to tap "Allow". */
interface Request {
  readonly key: KeyObject;
  readonly admit: () => void;
}

const maxRequests = 16;

/** Computers that may debug this phone, as stored by "USB debugging". */
export class Authorization {
  /** Whether a computer needs an accepted key; otherwise every computer is let in. */
  required: boolean;
  readonly #keys: KeyObject[] = [];
  #requests: Request[] = [];
  #waiting: (() => void)[] = [];

  constructor(required: boolean) {
    this.required = required;
  }

  /** Number of computers that wait for "Allow". */
  get requestCount(): number {
    return this.#requests.length;
  }

  isSignedByKnownKey(token: Buffer, signature: Buffer): boolean {
    return this.#keys.some((key) => isTokenSigned(key, token, signature));
  }

  /** Shows the request to the user. Returns false for an invalid key. */
  ask(publicKey: string, admit: () => void): boolean {
    const key = findAndroidPublicKey(publicKey);
    if (!key) return false;
    this.#requests = [...this.#requests, { key, admit }].slice(-maxRequests);
    for (const resolve of this.#waiting.splice(0)) resolve();
    return true;
  }

  /** Resolves when a computer sends a request, or at once if one is pending. */
  waitForRequest(): Promise<void> {
    if (this.#requests.length > 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Taps "Always allow" for all pending requests. */
  allow(): void {
    for (const request of this.#requests.splice(0)) {
      this.#keys.push(request.key);
      request.admit();
    }
  }

  /** Taps "Cancel" for all pending requests. */
  refuse(): void {
    this.#requests = [];
  }

  /** Trusts a key in advance. Throws if it is not in Android's format. */
  trust(publicKey: string): void {
    const key = findAndroidPublicKey(publicKey);
    if (!key) throw new Error('This is not an ADB public key: expected the content of an adbkey.pub file.');
    this.#keys.push(key);
  }
}

/**
 * Parses a key in Android's own format (`adbkey.pub`): base64 of word count, n0inv, modulus, R² and exponent,
 * little-endian, then a space and a name. Returns undefined for any other text.
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

/** Whether the token was signed with the private half of the key. */
function isTokenSigned(key: KeyObject, token: Buffer, signature: Buffer): boolean {
  try {
    const decrypted = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    return decrypted.equals(Buffer.concat([sha1Prefix, token]));
  } catch {
    return false;
  }
}
