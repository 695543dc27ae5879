import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

import type { GitProgram } from './git-program.ts';
import { runGit } from './run-git.ts';

interface Packing {
  gitDir: string;
  /** Names of objects. */
  names: Iterable<string>;
  /** Whether all is packed that is reached from these, or they alone. */
  isDeep: boolean;
  signal?: AbortSignal;
  environment?: Readonly<Record<string, string>>;
}

const timeoutMs = 30 * 60_000;

/** Writes objects of a repository to one pack, which is there, with its index, until `use` has ended. */
export async function packObjects<Result>(
  git: GitProgram,
  { gitDir, names, isDeep, ...run }: Packing,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = path.join(git.stagingFolder, `pack-${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const args = ['pack-objects', '--quiet', '--delta-base-offset', ...(isDeep ? ['--revs'] : [])];
    const input = [...names].map((name) => `${name}\n`).join('');
    const { stdout } = await runGit(git, [...args, path.join(folder, 'pack')], {
      ...{ gitDir, input, timeoutMs },
      ...run,
    });
    return await use(path.join(folder, `pack-${stdout.toString().trim()}.pack`));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
