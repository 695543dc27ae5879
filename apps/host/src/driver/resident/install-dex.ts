import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { pushFile } from '../shell/push-file.ts';

/** Built by helper/build.sh. */
const dexFile = fileURLToPath(new URL('../../../helper/phalanx-helper.dex', import.meta.url));
const folder = '/data/local/tmp';

export interface InstalledDex {
  readonly path: string;
  readonly sha256: string;
}

let known: InstalledDex | undefined;

/** Each build has a name of its own, so that hosts of different releases don't disturb each other. */
function ourDex(): InstalledDex {
  if (known !== undefined) return known;
  const sha256 = createHash('sha256').update(readFileSync(dexFile)).digest('hex');
  known = { path: `${folder}/phalanx-${sha256.slice(0, 12)}.dex`, sha256 };
  return known;
}

/** Brings the helper to the phone unless this very build is there. */
export async function installDex(shell: PhoneShell, signal: AbortSignal): Promise<InstalledDex> {
  const dex = ourDex();
  const { stdout } = await shell.run(`sha256sum ${dex.path}; ls ${folder}`, signal);
  if (stdout.startsWith(dex.sha256)) return dex;
  const old = stdout.split(/\s+/).filter((name) => /^phalanx-[0-9a-f]{12}\.dex$/.test(name));
  if (old.length > 0) await shell.run(`rm -f ${old.map((name) => `${folder}/${name}`).join(' ')}`, signal);
  // Android 14 and newer run no dex that can be written.
  await pushFile(shell, createReadStream(dexFile), { remotePath: dex.path, permission: 0o400 }, signal);
  const after = await shell.run(`sha256sum ${dex.path}`, signal);
  if (after.stdout.startsWith(dex.sha256)) return dex;
  throw new DriverError('ui_helper_refused', `The phone did not keep the resident helper at ${dex.path}.`);
}
