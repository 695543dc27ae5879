import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../../../storage/db/database.ts';
import type { Row } from '../../../../storage/db/tables/tables.ts';
import { keepScreen, removeKeptScreen } from './kept-screens-store.ts';
import { printFrom, type PrintJson } from './process/messages.ts';
import type { ScreenGroup } from './nearest-group.ts';
import { textsIn } from '../../../../storage/db/dialect.ts';
import type { StoredRecord } from '../../stored-record.ts';
import type { ScreenPrint } from './screen-print.ts';
import { type KeptSample, findSuperfluous } from './superfluous-prints.ts';

/**
 * Maximum number of samples per group. Samples are the prints that others are compared with and whose screens are kept
 * for replays.
 */
const maxSamples = 8;
/** Maximum number of prints per group. Further screens are matched by likeness. */
const maxPrints = 24;

interface NewPrint {
  group: Pick<Row<'record_group'>, 'id' | 'owner_id' | 'automation_id'>;
  json: PrintJson;
  /** JSON of the screen's tree. */
  tree: Uint8Array;
  language: string | null;
  appVersion: string | null;
  addedAt: number;
  /** Key of a crash, whose screen is neither compared nor kept; undefined for other records. */
  crashKey: string | undefined;
  screen: Pick<Row<'group_screen'>, 'record_id' | 'next_stage' | 'screen_state'>;
}

interface Candidate extends KeptSample {
  /** Key of a stored print; undefined for the new print. */
  printKey: string | undefined;
}

/** Adds a print that is new to the group. In a full group, it replaces another print or is not stored. */
export async function addPrint(transaction: Transaction, added: NewPrint): Promise<void> {
  const { group, json, language, appVersion, addedAt, crashKey } = added;
  const { owner_id, automation_id, id: group_id } = group;
  const known = await transaction
    .selectFrom('group_print')
    .select(['print_key', 'is_sample', 'added_at'])
    .where('group_id', '=', group_id)
    .orderBy('added_at')
    .orderBy('print_key')
    .execute();
  const samples = known.filter(({ is_sample: isSample }) => isSample === 1);
  const isOver = crashKey === undefined && samples.length >= maxSamples;
  const gone = isOver ? await findGone(transaction, added) : undefined;
  const isSample = crashKey === undefined && (!isOver || gone?.printKey !== undefined);
  if (gone?.printKey !== undefined) await endSample(transaction, group_id, gone.printKey);
  if (known.length >= maxPrints) {
    if (!isSample && crashKey === undefined) return;
    const oldest = known.find(({ print_key: key, is_sample: one }) => one === 0 || key === gone?.printKey);
    await deletePrint(transaction, group, oldest?.print_key ?? '');
  }
  await transaction
    .insertInto('group_print')
    .values({
      owner_id,
      automation_id,
      group_id,
      print_key: crashKey ?? json.key,
      print: JSON.stringify(json),
      is_sample: isSample ? 1 : 0,
      language,
      app_version: appVersion,
      added_at: addedAt,
    })
    .execute();
  if (!isSample) return;
  const { tree, screen } = added;
  await keepScreen(transaction, { owner_id, automation_id, print_key: json.key, ...screen }, tree);
}

async function findGone(transaction: Transaction, added: NewPrint): Promise<Candidate | undefined> {
  const rows = await transaction
    .selectFrom('group_print')
    .select(['print_key', 'print', 'language', 'app_version', 'added_at'])
    .where('group_id', '=', added.group.id)
    .where('is_sample', '=', 1)
    .execute();
  const samples = rows.map(
    ({ print_key: printKey, print, language, app_version: appVersion, added_at: addedAt }): Candidate => ({
      printKey,
      print: readPrint(print),
      language,
      appVersion,
      addedAt,
    }),
  );
  const { language, appVersion, addedAt, json } = added;
  return findSuperfluous([
    ...samples,
    { printKey: undefined, print: printFrom(json), language, appVersion, addedAt },
  ]);
}

async function endSample(transaction: Transaction, groupId: string, printKey: string): Promise<void> {
  await transaction
    .updateTable('group_print')
    .set({ is_sample: 0 })
    .where('group_id', '=', groupId)
    .where('print_key', '=', printKey)
    .execute();
  await removeKeptScreen(transaction, groupId, printKey);
}

async function deletePrint(
  transaction: Transaction,
  { owner_id, automation_id }: NewPrint['group'],
  printKey: string,
): Promise<void> {
  await transaction
    .deleteFrom('group_print')
    .where('owner_id', '=', owner_id)
    .where('automation_id', '=', automation_id)
    .where('print_key', '=', printKey)
    .execute();
}

/** Maximum number of the app's groups that a new print is compared with: those seen last. */
const maxCompared = 100;
/** Maximum number of prints of all these groups together. A merged group may exceed its own limit. */
const maxComparedPrints = 800;

/**
 * Lists the groups that a new print is compared with. Their number is bounded, however many groups the automation has.
 */
export async function listCompared(
  transaction: Transaction,
  { owner_id, automation_id }: Pick<StoredRecord, 'owner_id' | 'automation_id'>,
  packageName: string,
): Promise<ScreenGroup[]> {
  const newest = await transaction
    .selectFrom('record_group')
    .select('id')
    .where('owner_id', '=', owner_id)
    .where('automation_id', '=', automation_id)
    .where('package_name', '=', packageName)
    .where('merged_into', 'is', null)
    .orderBy('last_seen', 'desc')
    .limit(maxCompared)
    .execute();
  if (newest.length === 0) return [];
  const ids = newest.map(({ id }) => id);
  const rows = await transaction
    .selectFrom('group_print')
    .select(['group_id', 'print_key', 'language'])
    .where('group_id', 'in', ids)
    .where('is_sample', '=', 1)
    .limit(maxComparedPrints)
    .execute();
  const keys = rows.map(({ print_key: key }) => key);
  const prints = await mapPrints(transaction, { owner_id, automation_id }, keys);
  const byGroup = Map.groupBy(rows, ({ group_id: id }) => id);
  return [...byGroup].map(([id, known]) => ({
    id,
    screens: known.flatMap(({ print_key: key, language }) => {
      const print = prints.get(key);
      return print === undefined ? [] : [{ print, language }];
    }),
  }));
}

/** Cache of parsed prints, because parsing takes longer than comparing. A key has the same print in all groups. */
const knownPrints = new LRUCache<string, ScreenPrint>({ max: 2000 });

async function mapPrints(
  transaction: Transaction,
  { owner_id, automation_id }: Pick<StoredRecord, 'owner_id' | 'automation_id'>,
  keys: readonly string[],
): Promise<Map<string, ScreenPrint>> {
  const nameOf = (key: string): string => JSON.stringify([owner_id, automation_id, key]);
  const missing = keys.filter((key) => !knownPrints.has(nameOf(key)));
  const found = new Map<string, ScreenPrint>();
  if (missing.length > 0) {
    const rows = await transaction
      .selectFrom('group_print')
      .select(['print_key', 'print'])
      .where('owner_id', '=', owner_id)
      .where('automation_id', '=', automation_id)
      .where('print_key', 'in', textsIn(transaction, missing))
      .execute();
    for (const { print_key: key, print } of rows) found.set(key, readPrint(print));
  }
  for (const key of keys) {
    const print = found.get(key) ?? knownPrints.get(nameOf(key));
    if (print !== undefined) found.set(key, print);
  }
  for (const [key, print] of found) knownPrints.set(nameOf(key), print);
  return found;
}

/** Parses a print without validation: only `addPrint` writes this column. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const readPrint = (json: string): ScreenPrint => printFrom(JSON.parse(json) as PrintJson);
