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
 * Returns the folder of the built console. A checkout builds it in a separate process when its sources have changed;
 * an installed program ships it built.
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

/**
 * Whether the `dist` folder can be written. A service started by root runs as another user, who does not own the
 * sources.
 */
async function isWritable(): Promise<boolean> {
  try {
    await mkdir(dist, { recursive: true });
    await access(dist, constants.W_OK);
    // The service creates private folders; every user must be able to read the built console.
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
  // A path instead of an import keeps the bundler out of the package.
  const program = path.join(import.meta.dirname, 'write-bundle.ts');
  try {
    // The environment of the service may contain secrets.
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

/** Runs `work` in one process at a time. Breaks a lock whose process has died. */
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
    // The owner has created the file but not yet written its process ID.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Sources that affect the build, relative to the root of the repository. */
const sources = [
  'apps/console/{src,build}/**/*',
  'apps/console/{index.html,vite.config.ts,package.json}',
  'packages/{protocol,client,automation}/src/**/*.ts',
  'packages/automation/starter/*',
  'package-lock.json',
];

/** Returns a digest of the sources, which names the folder of their build. */
async function hashSources(): Promise<string> {
  const root = path.join(workspace, '..', '..');
  const hash = createHash('sha256').update(process.version);
  const found = globSync(sources, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = found.map((entry) => path.join(entry.parentPath, entry.name)).toSorted();
  for (const file of files) hash.update(path.relative(root, file)).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}
