import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Db } from '../db/database.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { prepareGit } from '../git/prepare-git.ts';
import { problemOfProject } from './check-project.ts';
import { LargePacks } from './large-packs.ts';
import { createPackLogStore } from './pack-log-store.ts';
import { RepositoryCache } from './repository-cache.ts';

interface Checked {
  db: Db;
  dataDir: string;
  /** Where git is looked for. */
  searchPath: string;
}

/** What is wrong with these projects, each looked at by git in a folder that goes away again. */
export async function problemsOfProjects(
  { db, dataDir, searchPath }: Checked,
  ids: readonly string[],
): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-check-'));
  try {
    const git = await prepareGit(path.join(folder, 'git'), searchPath);
    const store = createPackLogStore(db, new GroupCommit(db));
    const large = LargePacks.at(path.resolve(dataDir, 'project-packs'));
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
