import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ApiClient } from '@phalanx/client/api-client';

import { inParallel } from '../in-parallel.ts';
import { contentVersion, readBase, writeBase, type BaseFiles, RemoteFiles } from './remote-files.ts';
import type { LinkedFolder } from './project-folder.ts';
import {
  findKind,
  findPathProblem,
  isBehindLink,
  LocalPathError,
  makeFolders,
  ownFolder,
  readLocalFile,
} from './local-files.ts';

export interface Pulled {
  written: string[];
  deleted: string[];
  /** Files that changed only here, and were kept. */
  kept: string[];
  /** Files that changed here and on the server. */
  conflicts: string[];
  /** Files that cannot be written here, with the reasons. */
  skipped: { path: string; reason: string }[];
}

/** Change of one file. `staged` is the path of its new content. */
type Step =
  | { kind: 'write'; path: string; staged: string; hash: string }
  | { kind: 'delete'; path: string }
  | { kind: 'same'; path: string; hash: string };

interface Pull {
  root: string;
  remote: RemoteFiles;
  base: BaseFiles;
  force: boolean;
  staging: string;
  result: Pulled;
  steps: Step[];
}

/**
 * Returns the hash of a local file, `absent`, `blocked` if something other than a project file is in its place, or
 * `unreadable` for a file that cannot have been pulled.
 */
async function localState(root: string, file: string): Promise<string> {
  if (await isBehindLink(root, file)) return 'blocked';
  const kind = await findKind(path.join(root, file));
  if (kind === undefined) return 'absent';
  if (kind !== 'file') return 'blocked';
  return readLocalFile(root, file).then(contentVersion, (error: unknown) => {
    if (error instanceof LocalPathError) return 'unreadable';
    throw error;
  });
}

/**
 * Downloads the server's files into the folder. Fetches and compares all files before it changes any. With a conflict
 * and without `force`, it changes nothing.
 */
export async function pull(api: ApiClient, folder: LinkedFolder, force: boolean): Promise<Pulled> {
  const { root } = folder;
  const staging = path.join(root, ownFolder, `incoming-${randomUUID()}`);
  await makeFolders(root, `${path.relative(root, staging).replaceAll(path.sep, '/')}/x`);
  const result: Pulled = { written: [], deleted: [], kept: [], conflicts: [], skipped: [] };
  const remote = new RemoteFiles(api, folder.id);
  const state: Pull = { root, remote, base: await readBase(root), force, staging, result, steps: [] };
  try {
    await compareAll(state);
    if (result.conflicts.length === 0 || force) await apply(state);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  for (const list of [result.written, result.deleted, result.kept, result.conflicts]) list.sort();
  return result;
}

async function compareAll(state: Pull): Promise<void> {
  const { versions } = await state.remote.list();
  const progress = new Progress('Comparing', versions.size);
  try {
    await inParallel([...versions], async ([file, there], index) => {
      await compare(state, { file, there }, path.join(state.staging, String(index)));
      progress.step();
    });
  } finally {
    progress.end();
  }
  for (const file of state.base.keys()) if (!versions.has(file)) await compareGone(state, file);
}

/** Compares a file, and fetches its content only if it is to be written here. */
async function compare(
  state: Pull,
  { file, there }: { file: string; there: string },
  staged: string,
): Promise<void> {
  const { root, remote, base, result, steps } = state;
  const problem = findPathProblem(file);
  if (problem !== undefined) return void result.skipped.push({ path: file, reason: problem });
  const here = await localState(root, file);
  const before = base.get(file);
  if (here === 'blocked')
    return void result.skipped.push({ path: file, reason: 'a local folder or link is in its place' });
  if (here === there) return void steps.push({ kind: 'same', path: file, hash: there });
  const isUntouchedHere = here === before || (here === 'absent' && before === undefined);
  if (!isUntouchedHere && there === before && !state.force) return void result.kept.push(file);
  const found = await remote.find(file);
  if (found === undefined) return;
  if (found === 'not text')
    return void result.skipped.push({ path: file, reason: 'it is not text: get it with git clone' });
  if (!isUntouchedHere) result.conflicts.push(file);
  await writeFile(staged, found.text, { flag: 'wx' });
  steps.push({ kind: 'write', path: file, staged, hash: contentVersion(found.text) });
}

/** Compares a file that was deleted on the server. */
async function compareGone({ root, base, force, result, steps }: Pull, file: string): Promise<void> {
  if (findPathProblem(file) !== undefined) return void base.delete(file);
  const here = await localState(root, file);
  if (here === 'absent' || here === 'blocked') return void base.delete(file);
  if (here !== base.get(file)) result.conflicts.push(file);
  if (here === base.get(file) || force) steps.push({ kind: 'delete', path: file });
}

/** Applies the steps. Deletions go first, because a folder may take the place of a file. */
async function apply({ root, base, steps, result }: Pull): Promise<void> {
  const order = { delete: 0, same: 1, write: 2 };
  try {
    for (const step of steps.sort((one, other) => order[one.kind] - order[other.kind])) {
      if (step.kind === 'delete') {
        await rm(path.join(root, step.path), { force: true });
        base.delete(step.path);
        result.deleted.push(step.path);
      } else if (step.kind === 'same') base.set(step.path, step.hash);
      else await place({ root, base, result }, step);
    }
  } finally {
    await writeBase(root, base);
  }
}

async function place(
  { root, base, result }: Pick<Pull, 'root' | 'base' | 'result'>,
  step: Step & { kind: 'write' },
): Promise<void> {
  try {
    await makeFolders(root, step.path);
    await rename(step.staged, path.join(root, step.path));
    base.set(step.path, step.hash);
    result.written.push(step.path);
  } catch (error) {
    const isInTheWay = error instanceof LocalPathError || (error instanceof Error && 'code' in error);
    if (!isInTheWay) throw error;
    result.skipped.push({ path: step.path, reason: error.message });
  }
}

/** Shows progress on a terminal's standard error, in one line that is overwritten. */
class Progress {
  readonly #what: string;
  readonly #total: number;
  #done = 0;

  constructor(what: string, total: number) {
    this.#what = what;
    this.#total = total;
  }

  step(): void {
    this.#done += 1;
    if (process.stderr.isTTY) process.stderr.write(`\r${this.#what} ${this.#done} of ${this.#total}`);
  }

  /** Clears the line for the output that follows. */
  end(): void {
    if (process.stderr.isTTY && this.#done > 0) process.stderr.write('\r\u001B[K');
  }
}
