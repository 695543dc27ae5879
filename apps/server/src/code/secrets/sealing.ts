import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCodeOf, ApiError } from '../../kernel/errors/api-error.ts';
import { syncFolder } from '../../storage/blobs/synced-files.ts';
import { keyIdOf, SealingKey } from './sealing-key.ts';

/** Length of a key in the file. */
const masterBytes = 32;

/** Store of the ID of the key that seals new values, shared by all servers of the database. */
export interface SealingKeyStore {
  /** Stores `id` unless an ID is stored already. Returns the stored ID. */
  claim(id: string): Promise<string>;
  replace(id: string): Promise<unknown>;
}

export interface SealedRow {
  /** Place for which the text was sealed. */
  readonly place: string;
  readonly sealed: string;
}

/** Database column of sealed texts. */
export interface SealedColumn {
  /** Lists up to `limit` rows that were sealed with other keys. */
  listOfOtherKeys(keyId: string, limit: number): Promise<readonly SealedRow[]>;
  /** Replaces a sealed text. Does nothing when the row has changed. */
  replace(before: SealedRow, sealed: string): Promise<unknown>;
}

interface Options {
  /** File with one key per line, 64 hexadecimal digits. The first key seals new values. */
  file: string;
  store: SealingKeyStore;
}

const rowsAtOnce = 100;

/**
 * Encrypts values that must not be readable in the database or a backup. The keys are in a separate file, which is
 * created when the service stores its first secret. A server whose file lacks the key of the other servers throws
 * `secrets_unavailable`.
 */
export class Sealing {
  readonly #options: Options;
  readonly #columns: SealedColumn[] = [];
  #keys: Promise<readonly [SealingKey, ...SealingKey[]]> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Registers a column. Its texts are resealed after the operator has put a new key first in the file. */
  add(column: SealedColumn): void {
    this.#columns.push(column);
  }

  /** Seals a text. Throws `secrets_unavailable`. */
  async seal(text: string, place: string): Promise<string> {
    const [current] = await this.#load();
    return current.seal(text, place);
  }

  /** Unseals a text. Throws `secrets_unavailable`. */
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

  /** Reseals all values that earlier keys have sealed. Does nothing when there is no key. */
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
      // Lets the next caller read again, because the operator may have fixed the file.
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

  /** Creates the first key. The file is written before the database names the key. */
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

/** Reads the keys. Empty when there is no file. */
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
