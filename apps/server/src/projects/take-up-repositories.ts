import { access, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { SettingError } from '@phalanx/settings';
import type { Logger } from 'pino';

import { errorCodeOf } from '../error-code.ts';
import { GitRepository } from '../git/git-repository.ts';
import type { GitProgram } from '../git/git-program.ts';
import { packObjects } from '../git/pack-objects.ts';
import { runGit } from '../git/run-git.ts';
import type { LargePacks } from './large-packs.ts';
import { packOfFile } from './logged-pack.ts';
import type { PackLogStore, Ref } from './pack-log-store.ts';
import { privateRefs } from './private-refs.ts';
import type { SavedFiles } from './saved-state.ts';

interface TakeUp {
  git: GitProgram;
  store: PackLogStore;
  large: LargePacks;
  log: Logger;
}

const suffix = '.git';
const savedRef = `${privateRefs}/saved`;
/** Follows the head of the saved state. */
const mainRef = 'refs/heads/main';

/**
 * Takes up the projects of a release that had each in a repository of its own in `folder`. It begins where an earlier
 * start was cut short; the repositories stay as they are. Throws a `SettingError` at one that can't be read.
 */
export async function takeUpRepositories(folder: string, taking: TakeUp): Promise<void> {
  const names = await listRepositories(folder);
  if (names === undefined) return;
  const untouched = new Set(await taking.store.listUntouched());
  const ids = names.map((name) => name.slice(0, -suffix.length)).filter((id) => untouched.has(id));
  for (const [done, id] of ids.entries()) {
    const gitDir = path.join(folder, id + suffix);
    await takeUp(taking, id, gitDir).catch((error: unknown) => {
      const problem = `The project in ${gitDir} can't be read: mend it (git fsck), or move it away to go on without it.`;
      throw new SettingError(problem, { cause: error });
    });
    taking.log.info(`${done + 1} of ${ids.length} projects were taken into the database.`);
  }
  const kept = `${folder}-before`;
  await rename(folder, kept);
  taking.log.warn(
    `All projects are in the database now. ${kept} has them as they were: nothing reads it, remove it when you want.`,
  );
}

/** Undefined when there is no such folder. */
async function listRepositories(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(suffix));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function takeUp({ git, store, large }: TakeUp, id: string, gitDir: string): Promise<void> {
  await access(gitDir);
  const repository = new GitRepository(git, gitDir);
  try {
    const all = await listRefs(git, gitDir);
    const saved = await readSaved(repository, all.find(({ name }) => name === savedRef)?.target);
    const refs = all.filter(({ name }) => name !== savedRef && name !== mainRef);
    const roots = [saved.files, saved.compiled, saved.head, ...refs.map(({ target }) => target)];
    const tips = new Set(roots.filter((root) => root !== undefined));
    // Nothing was ever stored.
    if (tips.size === 0) return;
    const packing = { gitDir, names: tips, isDeep: true };
    const pack = await packObjects(git, packing, (file) => packOfFile(large, id, file));
    const byName = new Map(refs.map(({ name, target }) => [name, target]));
    await store.append(id, { before: 0, saved, refs: byName, packs: [pack] });
  } finally {
    await repository.close();
  }
}

async function listRefs(git: GitProgram, gitDir: string): Promise<Ref[]> {
  const { stdout } = await runGit(git, ['for-each-ref', '--format=%(objectname) %(refname)'], { gitDir });
  const lines = stdout.toString().split('\n').slice(0, -1);
  return lines.map((line) => ({ target: line.slice(0, 40), name: line.slice(41) }));
}

/** The private ref named a tree with the files, what was compiled of them, and the newest commit as text. */
async function readSaved(repository: GitRepository, id: string | undefined): Promise<SavedFiles> {
  if (id === undefined) return { files: undefined, compiled: undefined, head: undefined };
  const tree = await repository.readTree(id);
  const head = tree.get('head');
  return {
    files: tree.get('files')?.id,
    compiled: tree.get('compiled')?.id,
    head: head === undefined ? undefined : (await repository.readBlob(head.id)).toString(),
  };
}
