import { LRUCache } from 'lru-cache';

import type { Transaction } from '../../../db/database.ts';
import { textsIn } from '../../../db/rows.ts';
import type { StoredRecord } from '../../stored-record.ts';
import type { ScreenGroup } from './nearest-group.ts';
import { type PrintJson, printFrom } from './process/messages.ts';
import type { ScreenPrint } from './screen-print.ts';

/** Groups of the app that a new print is compared with: those that were seen last. */
const mostCompared = 100;
/** Of all of them together; merging gives a group more than it has by itself. */
const mostComparedPrints = 800;

/** What is compared is bounded, however many groups there are. */
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
    .limit(mostCompared)
    .execute();
  if (newest.length === 0) return [];
  const ids = newest.map(({ id }) => id);
  const rows = await transaction
    .selectFrom('group_print')
    .select(['group_id', 'print_key', 'language'])
    .where('group_id', 'in', ids)
    .where('is_sample', '=', 1)
    .limit(mostComparedPrints)
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

/** Reading them takes longer than comparing them. Of one key there is one print, wherever it belongs by now. */
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

/** Only `addPrint` writes the column. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const readPrint = (json: string): ScreenPrint => printFrom(JSON.parse(json) as PrintJson);
