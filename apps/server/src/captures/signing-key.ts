import { randomBytes } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Db } from '../db/database.ts';
import { agreeOnUrlKey } from '../db/installation.ts';
import { errorCodeOf } from '../error-code.ts';
import { writeSynced } from '../write-synced.ts';

const keyBytes = 32;

/** Whole or not at all: two starts at one moment agree on one key. */
async function createKey(file: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await rm(draft, { force: true });
  await writeSynced(draft, [randomBytes(keyBytes)]);
  await link(draft, file).catch((error: unknown) => {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  });
  await rm(draft);
}

async function findKey(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Of several servers: that of the first one, so that addresses of captures are good at each. */
export async function openSharedSigningKey(db: Db, dataDir: string): Promise<Buffer> {
  const own = await openSigningKey(dataDir);
  return Buffer.from(await agreeOnUrlKey(db, own.toString('hex')), 'hex');
}

/** The key that signs capture URLs: made at the first start, kept in the data folder, readable by nobody else. */
export async function openSigningKey(dataDir: string): Promise<Buffer> {
  const file = path.join(dataDir, 'capture-url.key');
  if ((await findKey(file)) === undefined) await createKey(file);
  const key = await findKey(file);
  if (key?.byteLength === keyBytes) return key;
  throw new Error(
    `${file} is damaged: delete it, and a new key is made; URLs given out before are void then`,
  );
}
