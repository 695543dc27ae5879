import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { SettingError } from '@phalanx/settings';

/** Runs the system's tar. Throws with its words when it fails. */
async function runTar(args: readonly string[], output: FileHandle | undefined): Promise<void> {
  const child = spawn('tar', args, { stdio: ['ignore', output?.fd ?? 'ignore', 'pipe'] });
  const said = child.stderr === null ? '' : text(child.stderr);
  await once(child, 'close').catch((error: unknown) => {
    throw new SettingError('The program tar is needed and can’t be started: install it.', { cause: error });
  });
  if (child.exitCode !== 0) throw new Error(`tar failed: ${(await said).trim().split('\n')[0] ?? ''}`);
}

/** Writes the entries of `folder` as an archive. */
export const packFolder = (folder: string, names: readonly string[], output: FileHandle): Promise<void> =>
  runTar(['--create', '--file', '-', '--directory', folder, '--', ...names], output);

/** As files of this user, whatever the archive says. */
export const unpackInto = (folder: string, archive: string): Promise<void> =>
  runTar(
    ['--extract', '--file', archive, '--directory', folder, '--no-same-owner', '--no-same-permissions'],
    undefined,
  );
