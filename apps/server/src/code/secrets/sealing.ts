import { randomBytes, createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCodeOf, ApiError } from '../../kernel/errors/api-error.ts';
import { syncFolder } from '../../storage/blobs/synced-files.ts';

/** Of the key in the file, in bytes. */
const masterBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const format = 'v1';

/** Which key seals what is new, the same at all servers of the database. */
export interface SealingKeyStore {
  /** Stores `id` unless there is one. Returns the one that is stored. */
  claim(id: string): Promise<string>;
  replace(id: string): Promise<unknown>;
}

export interface SealedRow {
  /** What the text belongs to, as it was sealed. */
  readonly place: string;
  readonly sealed: string;
}

/** A column of sealed texts. */
export interface SealedColumn {
  /** Some rows that other keys have sealed. */
  listOfOtherKeys(keyId: string, limit: number): Promise<readonly SealedRow[]>;
  /** Does nothing when the row has changed. */
  replace(before: SealedRow, sealed: string): Promise<unknown>;
}

interface Options {
  /** A line for each key, 64 hexadecimal digits; the first one seals what is new. */
  file: string;
  store: SealingKeyStore;
}

const rowsAtOnce = 100;

/**
 * Encrypts what must not be read from the database or a backup. The keys are in a file of its own, which is made when the
 * service stores its first secret. A server whose file lacks the key of the other servers refuses.
 */
export class Sealing {
  readonly #options: Options;
  readonly #columns: SealedColumn[] = [];
  #keys: Promise<readonly [SealingKey, ...SealingKey[]]> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Registers a column, whose texts are sealed anew when the operator has put a new key first. */
  add(column: SealedColumn): void {
    this.#columns.push(column);
  }

  /** Throws `secrets_unavailable`. */
  async seal(text: string, place: string): Promise<string> {
    const [current] = await this.#load();
    return current.seal(text, place);
  }

  /** Throws `secrets_unavailable`. */
  async unseal({ sealed, place }: SealedRow): Promise<string> {
    const id = keyIdOf(sealed);
    const key = (await this.#load()).find((one) => one.id === id);
    if (key === undefined) throw this.#withoutKey(id);
    try {
      return key.unseal(sealed, place);
    } catch (error) {
      throw unavailable('a stored secret is damaged', error);
    }
  }

  /** Seals anew what earlier keys have sealed. Does nothing where no secret was ever stored. */
  async resealOld(): Promise<void> {
    const keys = await readKeys(this.#options.file);
    const [current] = keys;
    if (current === undefined) return;
    for (const column of this.#columns) await this.#reseal(column, current.id);
    await this.#options.store.replace(current.id);
  }

  async #reseal(column: SealedColumn, keyId: string): Promise<void> {
    for (;;) {
      const rows = await column.listOfOtherKeys(keyId, rowsAtOnce);
      if (rows.length === 0) return;
      for (const row of rows) await column.replace(row, await this.seal(await this.unseal(row), row.place));
    }
  }

  #load(): Promise<readonly [SealingKey, ...SealingKey[]]> {
    this.#keys ??= this.#read().catch((error: unknown) => {
      // Read again for the next caller: the operator may have mended it.
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  async #read(): Promise<readonly [SealingKey, ...SealingKey[]]> {
    const { file, store } = this.#options;
    const [first, ...others] = await readKeys(file);
    if (first === undefined) return [await this.#makeKey()];
    const keys = [first, ...others] as const;
    const claimed = await store.claim(first.id);
    if (!keys.some(({ id }) => id === claimed)) throw this.#withoutKey(claimed);
    return [...keys];
  }

  /** The file is on disk before the database names its key. */
  async #makeKey(): Promise<SealingKey> {
    const { file, store } = this.#options;
    const master = randomBytes(masterBytes);
    await writeKey(file, master);
    const key = new SealingKey(master);
    const claimed = await store.claim(key.id);
    if (claimed === key.id) return key;
    await rm(file);
    throw this.#withoutKey(claimed);
  }

  #withoutKey(id: string): ApiError {
    return unavailable(`${this.#options.file} does not have the key ${id}`);
  }
}

async function writeKey(file: string, master: Buffer): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(`${master.toString('hex')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await syncFolder(path.dirname(file));
  } catch (error) {
    throw unavailable(`${file} cannot be written (${errorCodeOf(error)})`, error);
  }
}

/** None where there is no file. */
async function readKeys(file: string): Promise<SealingKey[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return '';
    throw unavailable(`${file} cannot be read (${errorCodeOf(error)})`, error);
  });
  const lines = text.split(/\s+/).filter((line) => line !== '');
  if (!lines.every((line) => /^[0-9a-f]{64}$/i.test(line)))
    throw unavailable(`a line of ${file} is not a key of 64 hexadecimal digits`);
  return lines.map((line) => new SealingKey(Buffer.from(line, 'hex')));
}

const unavailable = (reason: string, cause?: unknown): ApiError =>
  ApiError.of('secrets_unavailable', { reason }, { cause });

/** A master key with the cipher key that is derived from it. */
export class SealingKey {
  /** Tells keys apart, and says nothing of the key. */
  readonly id: string;
  readonly #key: Buffer;

  constructor(master: Buffer) {
    this.id = createHash('sha256').update('phalanx key id').update(master).digest('hex').slice(0, 16);
    this.#key = Buffer.from(hkdfSync('sha256', master, '', 'phalanx secrets', 32));
  }

  /** AES-256-GCM with a random nonce. `place`: what the text belongs to; the text cannot be moved to another place. */
  seal(text: string, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return [format, this.id, Buffer.concat(sealed).toString('base64url')].join('.');
  }

  /** Throws when the text was sealed by another key or for another place, or was changed. */
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

/** The ID of the key that has sealed a text. */
const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? '';
