import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Db } from '../db/database.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { prepareGit } from '../git/prepare-git.ts';
import type { Bucket } from '../s3/bucket.ts';
import { problemOfProject } from './check-project.ts';
import { FolderLargePacks } from './folder-large-packs.ts';
import { createPackLogStore } from './pack-log-store.ts';
import { RepositoryCache } from './repository-cache.ts';
import { S3LargePacks } from './s3-large-packs.ts';

interface Checked {
  db: Db;
  dataDir: string;
  /** Where large packs are; none: in the data folder. */
  bucket: Bucket | undefined;
  /** Where git is looked for. */
  searchPath: string;
}

/** What is wrong with these projects, each looked at by git in a folder that goes away again. */
export async function problemsOfProjects(
  { db, dataDir, bucket, searchPath }: Checked,
  ids: readonly string[],
): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-check-'));
  try {
    const git = await prepareGit(path.join(folder, 'git'), searchPath);
    const store = createPackLogStore(db, new GroupCommit(db));
    const large =
      bucket === undefined
        ? FolderLargePacks.at(path.resolve(dataDir, 'project-packs'))
        : S3LargePacks.at(bucket);
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
