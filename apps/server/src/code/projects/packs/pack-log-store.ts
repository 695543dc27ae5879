import type { GroupCommit } from '../../../storage/db/group-commit.ts';
import { invalidate } from '../../../storage/db/invalidate.ts';
import { change as changeNoted, noted } from '../../../storage/db/change-note.ts';
import type { Db } from '../../../storage/db/database.ts';
import type { Row, Transaction } from '../../../storage/db/tables/tables.ts';
import { transact } from '../../../storage/db/transactions.ts';
import { enqueue, listEnqueued } from '../../../storage/db/work-queue.ts';
import { dayMs } from '@phalanx/timing/durations';
import type { SavedTrees, SavedState } from '../saved-state.ts';

export type LoggedPack = Pick<
  Row<'project_pack'>,
  'hash' | 'size_bytes' | 'large_key' | 'pack' | 'pack_index'
>;

export type ListedPack = Pick<Row<'project_pack'>, 'version' | 'part' | 'hash' | 'size_bytes' | 'large_key'>;

export interface Ref {
  readonly name: string;
  readonly target: string;
}

export interface LoggedChange {
  /** Version that the change is based on. */
  readonly before: number;
  readonly saved: SavedTrees;
  readonly now: number;
  /** Changed refs by name. An undefined target removes the ref. */
  readonly refs: ReadonlyMap<string, string | undefined>;
  readonly packs: readonly LoggedPack[];
  /** First version that the log must still contain. Otherwise nothing is stored. */
  readonly firstVersion?: number | undefined;
  /** Called in the transaction of the change. */
  readonly note?: ((transaction: Transaction) => Promise<void>) | undefined;
}

export type PackLogStore = ReturnType<typeof createPackLogStore>;

/**
 * Creates the store of the projects' logs: the packs of each project in order of their versions, and its newest state.
 */
export function createPackLogStore(db: Db, commits: GroupCommit) {
  return {
    /** Finds the state. Undefined when there is no such project. */
    findState: (id: string): Promise<SavedState | undefined> => findState(db, id),

    /** Finds the tips of one version: the objects from which all others are reachable. */
    async findTips(id: string): Promise<{ version: number; tips: Set<string> } | undefined> {
      const state = await findState(db, id);
      const refs = await listRefs(db, id);
      if (state === undefined) return undefined;
      // Reads again if the project changed meanwhile, because refs that were read after the change may name objects of
      // the new version.
      if ((await findState(db, id))?.version !== state.version) return this.findTips(id);
      const { version, files, compiled, head } = state;
      const all = [files, compiled, head, ...refs.map(({ target }) => target)];
      return { version, tips: new Set(all.filter((tip) => tip !== undefined)) };
    },

    async findRef(id: string, name: string): Promise<string | undefined> {
      const row = await db
        .selectFrom('project_ref')
        .select('target')
        .where('project_id', '=', id)
        .where('name', '=', name)
        .executeTakeFirst();
      return row?.target;
    },

    listRefs: (id: string): Promise<Ref[]> => listRefs(db, id),

    /** Lists the distinct trees of saved files of the project's kept runs, the newest first, up to `maxRunTrees`. */
    async listRunTrees(id: string): Promise<string[]> {
      const rows = await runTrees(db, id)
        .groupBy('launch.tree')
        .orderBy((build) => build.fn.max('launch.created_at'), 'desc')
        .limit(maxRunTrees)
        .execute();
      return rows.flatMap(({ tree }) => (tree === null ? [] : [tree]));
    },

    /** Whether a kept run of the project used this tree. */
    hasRunTree: async (id: string, tree: string): Promise<boolean> =>
      (await runTrees(db, id).where('launch.tree', '=', tree).limit(1).executeTakeFirst()) !== undefined,

    listPacks: (id: string): Promise<ListedPack[]> =>
      db
        .selectFrom('project_pack')
        .select(['version', 'part', 'hash', 'size_bytes', 'large_key'])
        .where('project_id', '=', id)
        .orderBy('version')
        .orderBy('part')
        .execute(),

    /** Reads the row of a pack. Undefined when the log was repacked meanwhile. */
    findPack: (
      id: string,
      { version, part, hash }: ListedPack,
    ): Promise<Pick<LoggedPack, 'pack' | 'pack_index'> | undefined> =>
      db
        .selectFrom('project_pack')
        .select(['pack', 'pack_index'])
        .where('project_id', '=', id)
        .where('version', '=', version)
        .where('part', '=', part)
        .where('hash', '=', hash)
        .executeTakeFirst(),

    async findFirstVersion(id: string): Promise<number | undefined> {
      return findFirst(db, id);
    },

    /**
     * Appends a change and returns the new version. Stores nothing and returns undefined when the project is no longer
     * at version `before`, or its log no longer begins with `firstVersion`.
     */
    append: (id: string, change: LoggedChange): Promise<number | undefined> =>
      commits.write(noted((transaction) => appendTo(transaction, id, change))),

    /** Replaces all packs up to `version` by one pack, or by none when nothing is left. Returns whether it did. */
    replacePacks: (
      id: string,
      { version, pack, now }: { version: number; pack: LoggedPack | undefined; now: number },
    ): Promise<boolean> =>
      transact(db, async (transaction) => {
        await removeLarge(transaction, { id, version, now });
        const { numDeletedRows } = await transaction
          .deleteFrom('project_pack')
          .where('project_id', '=', id)
          .where('version', '<=', version)
          .executeTakeFirst();
        // Gives up, because the project was deleted or another server was faster.
        if (numDeletedRows === 0n) return false;
        if (pack !== undefined) await insertPacks(transaction, { id, version, packs: [pack] });
        return true;
      }),

    /** Deletes a project with its log. Enqueues the removal of its large packs. False when it was already deleted. */
    deleteProject: (id: string, now: number): Promise<boolean> =>
      changeNoted(db, async (transaction) => {
        await removeLarge(transaction, { id, version: Number.MAX_SAFE_INTEGER, now });
        const { numDeletedRows } = await transaction
          .deleteFrom('project')
          .where('id', '=', id)
          .executeTakeFirst();
        await invalidate(transaction, 'people');
        return numDeletedRows > 0n;
      }),

    /** Enqueues the removal of those large packs of `keys` that belong to no project. */
    async noteStrays(keys: readonly string[], now: number): Promise<void> {
      if (keys.length === 0) return;
      await transact(db, async (transaction) => {
        const used = await listUsed(transaction, keys);
        const known = new Set([...used, ...(await listEnqueued(transaction, removal))]);
        const strays = keys.filter((key) => !known.has(key));
        await enqueueRemovals(transaction, strays, now);
      });
    },

    /** Whether this large pack belongs to a project. */
    isUsed: async (key: string): Promise<boolean> => (await listUsed(db, [key])).length > 0,
  };
}

const removal = 'delete large packs';
/** Retention of a large pack after its row was deleted, for a backup that began earlier. */
const keptMs = 7 * dayMs;

const enqueueRemovals = (transaction: Transaction, keys: readonly string[], now: number): Promise<void> =>
  enqueue(
    transaction,
    removal,
    keys.map((key) => ({ key, dueAt: now + keptMs })),
  );

/** Lists those large packs of `keys` that belong to a project. */
async function listUsed(db: Db, keys: readonly string[]): Promise<string[]> {
  const query = db.selectFrom('project_pack').select('large_key');
  const rows = await query.where('large_key', 'in', keys).execute();
  return rows.flatMap(({ large_key: key }) => key ?? []);
}

async function findState(db: Db, id: string): Promise<SavedState | undefined> {
  const row = await db
    .selectFrom('project')
    .select(['version', 'files', 'compiled', 'head'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { version, files, compiled, head } = row;
  return { version, files: files ?? undefined, compiled: compiled ?? undefined, head: head ?? undefined };
}

/**
 * Maximum number of run trees per project, so that the repository of a project that is changed and run for years does
 * not grow without limit.
 */
const maxRunTrees = 1000;

const runTrees = (db: Db, id: string) =>
  db
    .selectFrom('run')
    .innerJoin('launch', 'launch.id', 'run.launch')
    .select('launch.tree')
    .where('run.automation_id', '=', id)
    .where('launch.tree', 'is not', null);

const listRefs = (db: Db, id: string): Promise<Ref[]> =>
  db
    .selectFrom('project_ref')
    .select(['name', 'target'])
    .where('project_id', '=', id)
    .orderBy('name')
    .execute();

async function findFirst(db: Db, id: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('project_pack')
    .select('version')
    .where('project_id', '=', id)
    .orderBy('version')
    .limit(1)
    .executeTakeFirst();
  return row?.version;
}

async function appendTo(
  db: Transaction,
  id: string,
  { before, saved, now, refs, packs, firstVersion, note }: LoggedChange,
): Promise<number | undefined> {
  const version = before + 1;
  if (firstVersion !== undefined && (await findFirst(db, id)) !== firstVersion) return undefined;
  const { numUpdatedRows } = await db
    .updateTable('project')
    .set({
      version,
      changed_at: now,
      files: saved.files ?? null,
      compiled: saved.compiled ?? null,
      head: saved.head ?? null,
    })
    .where('id', '=', id)
    .where('version', '=', before)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return undefined;
  await insertPacks(db, { id, version, packs });
  for (const [name, target] of refs) await putRef(db, { id, name, target });
  await note?.(db);
  return version;
}

async function insertPacks(
  db: Db,
  { id, version, packs }: { id: string; version: number; packs: readonly LoggedPack[] },
): Promise<void> {
  for (const [part, pack] of packs.entries())
    await db
      .insertInto('project_pack')
      .values({ project_id: id, version, part, ...pack })
      .execute();
}

async function putRef(
  db: Db,
  { id, name, target }: { id: string; name: string; target: string | undefined },
): Promise<void> {
  if (target === undefined) {
    await db.deleteFrom('project_ref').where('project_id', '=', id).where('name', '=', name).execute();
    return;
  }
  await db
    .insertInto('project_ref')
    .values({ project_id: id, name, target })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ target }))
    .execute();
}

async function removeLarge(
  transaction: Transaction,
  { id, version, now }: { id: string; version: number; now: number },
): Promise<void> {
  const rows = await transaction
    .selectFrom('project_pack')
    .select('large_key')
    .where('project_id', '=', id)
    .where('version', '<=', version)
    .where('large_key', 'is not', null)
    .execute();
  const keys = rows.flatMap(({ large_key: key }) => key ?? []);
  await enqueueRemovals(transaction, keys, now);
}
