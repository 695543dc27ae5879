import type { Db } from '../../db/database.ts';

interface RecognisedScreen {
  record_id: string;
  screen_id: string;
  screen_state: string;
}

const newestRecords = 100;
const mostOfState = 5;

/** Screens with a tree that the automation has recognised in its newest records: some of each state. */
export async function listRecognised(
  db: Db,
  { ownerId, automationId }: { ownerId: string; automationId: string },
  most: number,
): Promise<RecognisedScreen[]> {
  const records = db
    .selectFrom('record')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('automation_id', '=', automationId)
    .orderBy('id', 'desc')
    .limit(newestRecords);
  const rows = await db
    .selectFrom('record_screen')
    .select(['record_id', 'screen_id', 'screen_state'])
    .where('record_id', 'in', records)
    .where('tree', '=', 'stored')
    .where((eb) => eb(eb.fn<string>('lower', ['screen_state']), '!=', 'unknown'))
    .orderBy('record_id', 'desc')
    .orderBy('position', 'desc')
    .execute();
  const byState = Map.groupBy(rows, ({ screen_state: state }) => state);
  return [...byState.values()].flatMap((screens) => screens.slice(0, mostOfState)).slice(0, most);
}
