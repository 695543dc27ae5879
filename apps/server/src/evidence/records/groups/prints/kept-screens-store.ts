import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompress } from 'node:zlib';
import { change } from '../../../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../../../storage/db/database.ts';
import { textsIn } from '../../../../storage/db/dialect.ts';
import type { Row } from '../../../../storage/db/tables/tables.ts';

type KeptScreen = Row<'group_screen'>;

export type KeptScreenOf = Pick<KeptScreen, 'owner_id' | 'automation_id'>;

/** Maximum size of a kept tree in bytes of JSON. Larger trees are not replayed. */
const maxTreeBytes = 1024 * 1024;
/** Maximum number and total compressed size (bytes) of kept screens per automation. */
const maxScreens = 10_000;
const maxBytes = 64 * 1024 * 1024;

/** Keeps a copy of a screen, unless the screen is too large or the automation has reached its limits. */
export async function keepScreen(
  transaction: Transaction,
  screen: Omit<KeptScreen, 'tree' | 'size_bytes'>,
  treeJson: Uint8Array,
): Promise<void> {
  if (treeJson.length > maxTreeBytes) return;
  const { count, bytes } = await transaction
    .selectFrom('group_screen')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.sum<number | null>('size_bytes').as('bytes'),
    ])
    .where('owner_id', '=', screen.owner_id)
    .where('automation_id', '=', screen.automation_id)
    .executeTakeFirstOrThrow();
  const tree = zstdCompressSync(treeJson);
  if (count >= maxScreens || Number(bytes ?? 0) + tree.length > maxBytes) return;
  await transaction
    .insertInto('group_screen')
    .values({ ...screen, tree, size_bytes: tree.length })
    .execute();
}

const decompress = promisify(zstdDecompress);

/** Reads the trees of kept screens as JSON, by print key. */
export async function readKeptTrees(
  db: Db,
  { owner_id, automation_id }: KeptScreenOf,
  printKeys: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('group_screen')
    .select(['print_key', 'tree'])
    .where('owner_id', '=', owner_id)
    .where('automation_id', '=', automation_id)
    .where('print_key', 'in', textsIn(db, printKeys))
    .execute();
  const trees = new Map<string, string>();
  for (const { print_key: key, tree } of rows)
    trees.set(key, (await decompress(tree, { maxOutputLength: maxTreeBytes })).toString());
  return trees;
}

export async function listKeptNames(db: Db, groupId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('group_print as print')
    .innerJoin('group_screen as screen', (join) =>
      join
        .onRef('print.owner_id', '=', 'screen.owner_id')
        .onRef('print.automation_id', '=', 'screen.automation_id')
        .onRef('print.print_key', '=', 'screen.print_key'),
    )
    .select('print.print_key')
    .where('print.group_id', '=', groupId)
    .orderBy('print.print_key')
    .execute();
  return rows.map(({ print_key: name }) => name);
}

/** Deletes the kept copy of a screen for a user. Returns false when the group has no copy of this print. */
export const deleteKeptScreen = (db: Db, groupId: string, printKey: string): Promise<boolean> =>
  change(db, (transaction) => removeKeptScreen(transaction, groupId, printKey));

/** Removes the kept copy of a screen. Returns false when the group has no copy of this print. */
export async function removeKeptScreen(
  transaction: Transaction,
  groupId: string,
  printKey: string,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('group_screen')
    .where('print_key', '=', printKey)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('group_print as print')
          .select('print.print_key')
          .where('print.group_id', '=', groupId)
          .whereRef('print.owner_id', '=', 'group_screen.owner_id')
          .whereRef('print.automation_id', '=', 'group_screen.automation_id')
          .whereRef('print.print_key', '=', 'group_screen.print_key'),
      ),
    )
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface KeptScreenRef extends Pick<KeptScreen, 'print_key' | 'next_stage' | 'screen_state'> {
  group_id: string;
}

/** Finds the group, or the one into which it was merged. Returns undefined when the automation has no such group. */
export async function findLivingGroup(
  db: Db,
  { owner_id, automation_id }: KeptScreenOf,
  groupId: string,
): Promise<string | undefined> {
  for (let id = groupId; ;) {
    const found = await db
      .selectFrom('record_group')
      .select(['id', 'merged_into'])
      .where('id', '=', id)
      .where('owner_id', '=', owner_id)
      .where('automation_id', '=', automation_id)
      .executeTakeFirst();
    if (found === undefined || found.merged_into === null) return found?.id;
    id = found.merged_into;
  }
}

/** Selection of kept screens: those of all groups of the automation, of its open groups, or of one group. */
export type KeptScreensWish = 'all' | 'open' | { groupId: string };

export function listKeptScreens(
  db: Db,
  { owner_id, automation_id }: KeptScreenOf,
  wish: KeptScreensWish,
): Promise<KeptScreenRef[]> {
  let query = db
    .selectFrom('group_screen as screen')
    .innerJoin('group_print as print', (join) =>
      join
        .onRef('print.owner_id', '=', 'screen.owner_id')
        .onRef('print.automation_id', '=', 'screen.automation_id')
        .onRef('print.print_key', '=', 'screen.print_key'),
    )
    .innerJoin('record_group as group', 'group.id', 'print.group_id')
    .select(['screen.print_key', 'screen.next_stage', 'screen.screen_state', 'print.group_id'])
    .where('screen.owner_id', '=', owner_id)
    .where('screen.automation_id', '=', automation_id);
  if (wish === 'open') query = query.where('group.status', '=', 'open');
  else if (wish !== 'all') query = query.where('group.id', '=', wish.groupId);
  return query.orderBy('group.last_seen', 'desc').orderBy('screen.print_key').limit(maxScreens).execute();
}
