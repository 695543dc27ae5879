import type { ApiClient } from '@phalanx/client/api-client';
import { ServiceError } from '@phalanx/client/service-errors';
import { fileRoutes } from '@phalanx/protocol';

import { CommandError, exitCodes } from '../exit-codes.ts';
import { contentVersion, readBase, writeBase, type BaseFiles, RemoteFiles } from './remote-files.ts';
import type { LinkedFolder } from './project-folder.ts';
import { listLocalFiles, LocalPathError, readLocalFile, textOf } from './local-files.ts';

/** Changes that a push would make to the files on the server. */
export interface PushPlan {
  /** Version of the server's files that were compared. */
  etag: string;
  /** New and changed contents, by path. */
  changed: Map<string, string>;
  /** Files that were deleted here, and are still on the server. */
  gone: string[];
  /** Files that changed on the server since the last pull. */
  conflicts: string[];
  /** Files that cannot be sent, with the reasons. */
  failed: { path: string; reason: string }[];
  /** Entries such as symbolic links, which are never sent. */
  others: readonly string[];
  base: BaseFiles;
}

interface Comparison {
  /** Versions of the server's files, by path. */
  versions: ReadonlyMap<string, string>;
  force: boolean;
  plan: PushPlan;
}

/** Compares the folder with the server, and with the last common state. */
export async function planPush(
  api: ApiClient,
  { root, id }: LinkedFolder,
  force: boolean,
): Promise<PushPlan> {
  const base = await readBase(root);
  const { paths, others } = await listLocalFiles(root, base.keys());
  const { etag, versions } = await new RemoteFiles(api, id).list();
  const plan: PushPlan = { etag, changed: new Map(), gone: [], conflicts: [], failed: [], others, base };
  const comparison = { versions, force, plan };
  for (const file of paths) await compare(comparison, root, file);
  const here = new Set(paths);
  for (const file of base.keys()) if (!here.has(file)) compareGone(comparison, file);
  return plan;
}

async function compare({ versions, force, plan }: Comparison, root: string, file: string): Promise<void> {
  try {
    const bytes = await readLocalFile(root, file);
    const [here, before, there] = [contentVersion(bytes), plan.base.get(file), versions.get(file)];
    if (here === there) plan.base.set(file, here);
    else if (here === before && there !== undefined) return;
    else if (there === before || force) plan.changed.set(file, textOf(bytes));
    else plan.conflicts.push(file);
  } catch (error) {
    if (!(error instanceof LocalPathError)) throw error;
    plan.failed.push({ path: file, reason: error.message });
  }
}

function compareGone({ versions, force, plan }: Comparison, file: string): void {
  const there = versions.get(file);
  if (there === undefined) plan.base.delete(file);
  else if (there === plan.base.get(file) || force) plan.gone.push(file);
  else plan.conflicts.push(file);
}

/** Applies the plan to the server's files, all or nothing. Returns warnings of the server's compiler. */
export async function sendPlan(
  api: ApiClient,
  { root, id }: LinkedFolder,
  { etag, changed, base }: PushPlan,
  deleted: readonly string[],
): Promise<readonly string[]> {
  const files = Array.from(changed, ([path, content]) => ({ path, content }));
  const body = { files, deleted: [...deleted], expected_etag: etag };
  const isNothing = files.length + deleted.length === 0;
  const { warnings } = isNothing
    ? { warnings: [] }
    : await api.call(fileRoutes.replace, { params: { id }, body }).catch(explain);
  for (const { path, content } of files) base.set(path, contentVersion(content));
  for (const path of deleted) base.delete(path);
  await writeBase(root, base);
  return warnings;
}

function explain(error: unknown): never {
  if (!(error instanceof ServiceError && error.code === 'precondition_failed')) throw error;
  throw new CommandError(
    exitCodes.failed,
    'Nothing was pushed: someone else has just changed the project. Push again.',
  );
}
