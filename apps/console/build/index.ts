import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { withBuildLock } from './build-lock.ts';
import { hashSources } from './hash-sources.ts';

const workspace = path.join(import.meta.dirname, '..');
const buildTimeoutMs = 180_000;
const oldBuildMs = 24 * 60 * 60 * 1000;

/**
 * The folder of the built console. Beside its sources it is built when they have changed, in a process of its own;
 * an installed program carries it built.
 */
export async function prepareConsole(): Promise<string> {
  const dist = path.join(workspace, 'dist');
  if (!existsSync(path.join(workspace, 'src'))) return path.join(dist, 'packed');
  const folder = path.join(dist, await hashSources(workspace));
  if (existsSync(folder)) return folder;
  await mkdir(dist, { recursive: true });
  await withBuildLock(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    const unfinished = `${folder}.${process.pid}`;
    await build(unfinished);
    await rename(unfinished, folder);
    await removeOldBuilds(dist, path.basename(folder));
  });
  return folder;
}

async function build(folder: string): Promise<void> {
  // By a path, so that the package does not take the bundler along.
  const program = path.join(import.meta.dirname, 'write-bundle.ts');
  try {
    await promisify(execFile)(process.execPath, [program, folder], { timeout: buildTimeoutMs });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function removeOldBuilds(dist: string, newest: string): Promise<void> {
  for (const name of await readdir(dist)) {
    if (name.startsWith(newest)) continue;
    const place = path.join(dist, name);
    const { mtimeMs } = await stat(place);
    if (mtimeMs < Date.now() - oldBuildMs) await rm(place, { recursive: true, force: true });
  }
}
