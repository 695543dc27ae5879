import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, rmSync } from 'node:fs';
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

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
  const folder = path.join(dist, await hashSources());
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
    await mkdir(dist, { recursive: true });
    await access(dist, constants.W_OK);
    // A service creates folders for its user alone; the built console is for all.
    await chmod(dist, 0o755);
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
    // The environment of the service may have secrets.
    await promisify(execFile)(process.execPath, [program, folder], { timeout: buildTimeoutMs, env: {} });
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

const pollMs = 100;

/** Runs `work` in one process at a time. A lock whose process has died is taken over. */
async function withBuildLock(file: string, work: () => Promise<void>): Promise<void> {
  while (!(await take(file))) {
    if (!(await isHeld(file))) await rm(file, { force: true });
    await sleep(pollMs);
  }
  try {
    await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isHeld(file: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(file, 'utf8'));
    // Its owner is about to write its number into it.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Sources that the built files depend on, from the root of the repository. */
const sources = [
  'apps/console/{src,build}/**/*',
  'apps/console/{index.html,vite.config.ts,package.json}',
  'packages/{protocol,client,automation}/src/**/*.ts',
  'packages/automation/starter/*',
  'package-lock.json',
];

/** A name for the built files: another one when a source has changed. */
async function hashSources(): Promise<string> {
  const root = path.join(workspace, '..', '..');
  const hash = createHash('sha256').update(process.version);
  const found = globSync(sources, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = found.map((entry) => path.join(entry.parentPath, entry.name)).toSorted();
  for (const file of files) hash.update(path.relative(root, file)).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}
