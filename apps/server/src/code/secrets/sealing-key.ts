import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;
const format = 'v1';

/** Master key with the cipher key that is derived from it. */
export class SealingKey {
  /** ID that distinguishes keys, and reveals nothing of the key. */
  readonly id: string;
  readonly #key: Buffer;

  constructor(master: Buffer) {
    this.id = createHash('sha256').update('phalanx key id').update(master).digest('hex').slice(0, 16);
    this.#key = Buffer.from(hkdfSync('sha256', master, '', 'phalanx secrets', 32));
  }

  /**
   * Encrypts a text with AES-256-GCM and a random nonce. `place` is authenticated data: the sealed text cannot be moved
   * to another place.
   */
  seal(text: string, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return [format, this.id, Buffer.concat(sealed).toString('base64url')].join('.');
  }

  /** Decrypts a sealed text. Throws when it was sealed with another key or for another place, or was changed. */
  unseal(sealed: string, place: string): string {
    const bytes = Buffer.from(sealed.slice(sealed.lastIndexOf('.') + 1), 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  }
}

/** Returns the ID of the key that sealed a text. */
export const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? '';
