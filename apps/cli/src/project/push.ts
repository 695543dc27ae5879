import type { ApiClient } from '../api-client.ts';
import { Progress } from '../output/progress.ts';
import { contentHash, readBase, writeBase, type BaseFiles } from './base-files.ts';
import type { LinkedFolder } from './link.ts';
import { listLocalFiles } from './list-local-files.ts';
import { LocalPathError } from './local-path.ts';
import { inPushOrder } from './push-order.ts';
import { isAboutOneFile, reasonsOf } from './push-refusal.ts';
import { readLocalFile, textOf } from './read-local-file.ts';
import { RemoteFiles } from './remote-files.ts';

export interface Pushed {
  written: string[];
  deleted: string[];
  /** Deleted here, and still on the server because nobody has agreed to that. */
  notDeleted: string[];
  /** Changed on the server since the last pull. */
  conflicts: string[];
  /** With the lines that say why. */
  failed: Map<string, readonly string[]>;
  /** Symbolic links and such, which are never sent. */
  others: readonly string[];
}

export interface PushOptions {
  force: boolean;
  /** Asked once, with what would be deleted on the server. */
  mayDelete: (paths: readonly string[]) => Promise<boolean>;
}

interface Push {
  root: string;
  remote: RemoteFiles;
  onServer: ReadonlySet<string>;
  base: BaseFiles;
  force: boolean;
  result: Pushed;
}

/** Sends what was changed in the folder since it and the server were the same, file by file. */
export async function push(api: ApiClient, folder: LinkedFolder, options: PushOptions): Promise<Pushed> {
  const { root, id } = folder;
  const base = await readBase(root);
  const local = await listLocalFiles(root, base.keys());
  const remote = new RemoteFiles(api, id);
  const onServer = new Set(await remote.list());
  const result: Pushed = {
    written: [],
    deleted: [],
    notDeleted: [],
    conflicts: [],
    failed: new Map(),
    others: local.others,
  };
  const state: Push = { root, remote, onServer, base, force: options.force, result };
  try {
    const unsent = await writeInRounds(state, await listChanged(state, local.paths));
    const here = new Set(local.paths);
    const gone = [...base.keys()].filter((file) => !here.has(file));
    const freed = await deleteGone(state, gone, options.mayDelete);
    // A file that became a folder could not be sent before.
    if (freed > 0) await writeInRounds(state, unsent);
  } finally {
    await writeBase(root, base);
  }
  return result;
}

/** Paths of what is not as the server had it last. */
async function listChanged(
  { root, base, onServer, result }: Push,
  paths: readonly string[],
): Promise<string[]> {
  const changed: string[] = [];
  for (const file of paths) {
    try {
      const isSame = contentHash(await readLocalFile(root, file)) === base.get(file);
      if (!isSame) changed.push(file);
      else if (!onServer.has(file)) result.conflicts.push(file);
    } catch (error) {
      if (!(error instanceof LocalPathError)) throw error;
      result.failed.set(file, [error.message]);
    }
  }
  return inPushOrder(changed);
}

/**
 * A file may not compile before another one has been sent, whatever the order. What failed is sent again as long as
 * that helps something; returns what is left.
 */
async function writeInRounds(state: Push, files: readonly string[]): Promise<string[]> {
  const progress = new Progress('Pushing', files.length);
  let left = [...files];
  try {
    for (let before = left.length + 1; left.length > 0 && left.length < before;) {
      before = left.length;
      const failed: string[] = [];
      for (const file of left) if (!(await write(state, file, progress))) failed.push(file);
      left = failed;
    }
  } finally {
    progress.end();
  }
  return left;
}

/** False when the server did not take it as it is now. */
async function write(state: Push, file: string, progress: Progress): Promise<boolean> {
  const { root, remote, base, result } = state;
  try {
    const content = textOf(await readLocalFile(root, file));
    const hash = contentHash(content);
    const there = await compare(state, file, hash);
    if (there === 'newer') result.conflicts.push(file);
    else {
      if (there === 'older') {
        await remote.write(file, content);
        result.written.push(file);
      }
      base.set(file, hash);
    }
    result.failed.delete(file);
    progress.step();
    return true;
  } catch (error) {
    if (!isAboutOneFile(error)) throw error;
    result.failed.set(file, reasonsOf(error));
    return false;
  }
}

/** What the server has, seen from here. */
async function compare(
  { remote, onServer, base, force }: Push,
  file: string,
  hash: string,
): Promise<'same' | 'older' | 'newer'> {
  if (!onServer.has(file)) return base.has(file) && !force ? 'newer' : 'older';
  const found = await remote.find(file);
  if (found === undefined || force) return 'older';
  if (found === 'not text') return 'newer';
  const there = contentHash(found.text);
  if (there === hash) return 'same';
  return there === base.get(file) ? 'older' : 'newer';
}

/** How many were deleted on the server. */
async function deleteGone(
  state: Push,
  gone: readonly string[],
  mayDelete: PushOptions['mayDelete'],
): Promise<number> {
  const { remote, onServer, base, result } = state;
  const deletable: string[] = [];
  for (const file of gone) {
    if (!onServer.has(file)) base.delete(file);
    else if ((await compare(state, file, '')) === 'newer') result.conflicts.push(file);
    else deletable.push(file);
  }
  if (deletable.length === 0) return 0;
  if (!(await mayDelete(deletable))) {
    result.notDeleted.push(...deletable);
    return 0;
  }
  for (const file of deletable) {
    await remote.delete(file);
    base.delete(file);
    result.deleted.push(file);
  }
  return deletable.length;
}
