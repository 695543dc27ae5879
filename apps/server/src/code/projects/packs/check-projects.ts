import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readBlobs } from '../../../storage/blobs/open-blobs.ts';
import type { Bucket } from '../../../storage/blobs/s3/bucket.ts';
import type { Db } from '../../../storage/db/database.ts';
import { GroupCommit } from '../../../storage/db/group-commit.ts';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { type GitProgram, GitFailure, runGit } from '../../git/git-process.ts';
import { prepareGit } from '../../git/prepare-git.ts';
import { LargePacks, largePacksName } from './large-packs.ts';
import { createPackLogStore, type PackLogStore } from './pack-log-store.ts';
import { RepositoryCache } from '../repositories/repository-cache.ts';
import { minuteMs } from '@phalanx/timing/durations';

const timeoutMs = 30 * minuteMs;

interface ProjectCheck {
  git: GitProgram;
  store: PackLogStore;
  /** Cache that only this check uses. */
  cache: RepositoryCache;
}

interface Checked {
  db: Db;
  dataDir: string;
  /** Bucket of large packs. Undefined when they are in the data folder. */
  bucket: Bucket | undefined;
  /** Search path for git. */
  searchPath: string;
}

/** Lists the problems of these projects. Git checks each in a temporary folder. */
export async function problemsOfProjects(
  { db, dataDir, bucket, searchPath }: Checked,
  ids: readonly string[],
): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-check-'));
  try {
    const git = await prepareGit(path.join(folder, 'git'), searchPath);
    const store = createPackLogStore(db, new GroupCommit(db));
    const large = new LargePacks(readBlobs({ name: largePacksName, dataDir, bucket }));
    const cache = new RepositoryCache({ folder: path.join(folder, 'cache'), store, large });
    const problems: string[] = [];
    for (const id of ids) {
      const problem = await problemOfProject({ git, store, cache }, id);
      if (problem !== undefined) problems.push(`project ${id}: ${problem}`);
    }
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Builds the repository from its log and runs `git fsck` on all reachable objects. Returns the problem, if any. */
async function problemOfProject(
  { git, store, cache }: ProjectCheck,
  id: string,
): Promise<string | undefined> {
  const tips = (await store.findTips(id))?.tips;
  if (tips === undefined || tips.size === 0) return undefined;
  try {
    await cache.complete(id, true);
    const gitDir = cache.gitDirOf(id);
    const args = ['fsck', '--full', '--no-dangling', '--no-progress', ...tips];
    await runGit(git, args, { gitDir, timeoutMs });
    return undefined;
  } catch (error) {
    // Checks again when the project was changed or deleted meanwhile, because its log may no longer have the old
    // objects.
    if (await hasChanged(store, id, tips)) return await problemOfProject({ git, store, cache }, id);
    if (errorCodeOf(error) === 'ENOENT') return 'a pack of it is missing';
    if (error instanceof GitFailure) return error.message;
    throw error;
  } finally {
    await cache.remove(id);
  }
}

async function hasChanged(store: PackLogStore, id: string, before: ReadonlySet<string>): Promise<boolean> {
  const now = (await store.findTips(id))?.tips ?? new Set<string>();
  return now.symmetricDifference(before).size > 0;
}
