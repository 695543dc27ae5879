import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { errorCodeOf } from '../error-code.ts';
import { packObjects } from '../git/pack-objects.ts';
import { listPacked } from '../git/pack.ts';
import { indexOf } from '../projects/logged-pack.ts';
import type { LoggedPack, ProjectRepositories } from '../projects/project-repositories.ts';
import { seenWith, type Push } from './push-check.ts';

/**
 * Stores what a push brings, for the change that it becomes: the pack in quarantine, and those of the new objects `ids`
 * that are not in it, because the client had seen them here in a branch that is gone.
 */
export async function storePush(
  repositories: ProjectRepositories,
  { projectId, quarantinePath }: Push,
  ids: readonly string[],
): Promise<LoggedPack[]> {
  const packs: LoggedPack[] = [];
  const missing = new Set(ids);
  for (const file of await listPackFiles(quarantinePath)) {
    for (const id of listPacked(await readFile(indexOf(file)))) missing.delete(id);
    packs.push(await repositories.storePack(projectId, file));
  }
  if (missing.size === 0) return packs;
  const gitDir = repositories.gitDirOf(projectId);
  const environment = seenWith(gitDir, quarantinePath);
  const packing = { gitDir, environment, names: missing, isDeep: false };
  const store = (file: string): Promise<LoggedPack> => repositories.storePack(projectId, file);
  return [...packs, await packObjects(repositories.git, packing, store)];
}

/** A push that brings no objects has no quarantine. */
async function listPackFiles(quarantinePath: string): Promise<string[]> {
  const folder = path.join(quarantinePath, 'pack');
  try {
    if (quarantinePath === '') return [];
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith('.pack')).map((name) => path.join(folder, name));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
