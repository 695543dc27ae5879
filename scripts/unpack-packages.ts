import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const options = { timeout: 300_000, maxBuffer: 64 * 1024 * 1024 };

/**
 * Unpacks Debian packages with all their missing dependencies into a new folder, without installing or starting any
 * of them.
 */
export async function unpackPackages(names: readonly string[], folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(`${folder}-`);
  try {
    const plan = await run(
      'apt-get',
      ['install', '--simulate', '--no-install-recommends', ...names],
      options,
    );
    const needed = [...plan.stdout.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
    const packages = join(work, 'packages');
    await mkdir(packages);
    // APT's own user may not write here.
    const asRoot = ['-o', 'APT::Sandbox::User=root'];
    await run('apt-get', [...asRoot, 'download', ...needed], { ...options, cwd: packages });
    const root = join(work, 'root');
    await mkdir(root);
    for (const file of await readdir(packages))
      await run('dpkg', ['-x', join(packages, file), root], options);
    await rm(join(root, 'usr/share'), { recursive: true, force: true });
    // Renamed atomically: an existing folder is complete.
    await rename(root, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
