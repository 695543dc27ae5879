import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { withBuildLock } from './build-lock.ts';
import { hashSources } from './hash-sources.ts';

const workspace = path.join(import.meta.dirname, '..');
const dist = path.join(workspace, 'dist');
const buildTimeoutMs = 180_000;
const oldBuildMs = 24 * 60 * 60 * 1000;

/**
 * The folder of the built console. Beside its sources it is built when they have changed, in a process of its own;
 * an installed program carries it built.
 */
export async function prepareConsole(): Promise<string> {
  if (!existsSync(path.join(workspace, 'src'))) return path.join(dist, 'packed');
  const folder = path.join(dist, await hashSources(workspace));
  if (existsSync(folder)) return folder;
  if (!(await isWritable())) return buildForThisStart();
  await withBuildLock(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    const unfinished = `${folder}.${process.pid}`;
    await build(unfinished);
    await rename(unfinished, folder);
    await removeOldBuilds(path.basename(folder));
  });
  return folder;
}

/** A service that root has started works as another user, whom the sources do not belong to. */
async function isWritable(): Promise<boolean> {
  try {
    await mkdir(dist, { recursive: true, mode: 0o755 });
    await access(dist, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function buildForThisStart(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-console-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await build(path.join(folder, 'built'));
  return path.join(folder, 'built');
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

async function removeOldBuilds(newest: string): Promise<void> {
  for (const name of await readdir(dist)) {
    if (name.startsWith(newest)) continue;
    const place = path.join(dist, name);
    const { mtimeMs } = await stat(place);
    if (mtimeMs < Date.now() - oldBuildMs) await rm(place, { recursive: true, force: true });
  }
}
