import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { hostKeyFile, loadHostKey } from '../adb/host-key.ts';

let made: Promise<string> | undefined;

/**
 * Writes the ADB key that all tests of this worker share into a data folder: generating an RSA key takes 0.2 s of CPU
 * time.
 */
export async function prepareHostKey(dataDir: string): Promise<void> {
  const pem = await (made ??= makeKey());
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, hostKeyFile), pem, { mode: 0o600 });
}

async function makeKey(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'phalanx-key-'));
  await loadHostKey(folder);
  const pem = await readFile(join(folder, hostKeyFile), 'utf8');
  await rm(folder, { recursive: true });
  return pem;
}
