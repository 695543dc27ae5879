import type { KeyObject } from 'node:crypto';
import { findAndroidPublicKey, isTokenSigned } from './android-public-key.ts';

/** A computer that waits for the user to tap "Allow". */
interface Request {
  readonly key: KeyObject;
  readonly admit: () => void;
}

const maxRequests = 16;

/** The computers that may debug this phone, as "USB debugging" keeps them. */
export class Authorization {
  /** When false, every computer is let in without a key. */
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
