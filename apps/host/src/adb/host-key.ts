import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** RSA key that identifies this host to phones. */
export interface HostKey {
  readonly privateKey: KeyObject;
  /** Name that a phone shows in "Allow USB debugging?". */
  readonly name: string;
}

export const hostKeyFile = 'adb-key.pem';

/** Reads the host's key from its data folder. Creates the key on the first start, readable by its owner only. */
export async function loadHostKey(dataDir: string): Promise<HostKey> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, hostKeyFile);
  const pem = (await findKeyFile(path)) ?? (await createKeyFile(path));
  return { privateKey: parseKey(pem, path), name: `phalanx@${hostname()}` };
}

async function findKeyFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function createKeyFile(path: string): Promise<string> {
  // Size and exponent are fixed by ADB.
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: 2048, publicExponent: 65_537 });
  const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(pem);
    } finally {
      await file.close();
    }
    return pem;
  } catch (error) {
    // Another host process created the key in this folder first: use that key.
    if (isErrno(error, 'EEXIST')) return await readFile(path, 'utf8');
    throw error;
  }
}

function parseKey(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa' && key.asymmetricKeyDetails?.modulusLength === 2048) return key;
  } catch {
    // Reports the error below, with what to do.
  }
  throw new Error(
    `${path} is not a 2048 bit RSA key. Delete the file; a new key will be made, and each phone asks once again.`,
  );
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
