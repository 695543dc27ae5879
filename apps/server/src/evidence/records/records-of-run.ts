import type { RunDetail } from '@phalanx/protocol';
import type { AutomationAccess } from './access-store.ts';
import type { ReadRecord } from './record-view.ts';
import type { RecordStore } from './store.ts';

/** Finds the records and the last screen of a run, for a user. */
export type RecordsOfRun = (run: {
  id: string;
  user_id: string;
}) => Promise<Pick<RunDetail, 'records' | 'last_screen'>>;

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  read: ReadRecord;
}

const maxRecords = 100;
const nothing = { records: [], last_screen: null };

/** Creates a reader that returns nothing to a user who may not review the project's records. */
export function createRecordsOfRun({ store, access, read }: Options): RecordsOfRun {
  return async ({ id, user_id: userId }) => {
    const records = await store.listOfRun(id, maxRecords);
    const [newest] = records;
    if (newest === undefined) return nothing;
    const { owner_id: ownerId, automation_id: automationId } = newest;
    const role = await access.findRole(userId, { ownerId, automationId });
    if (role !== 'owner' && role !== 'shared_editor') return nothing;
    const screen = (await read(newest)).screens.at(-1);
    return {
      records: records.map((record) => ({ record_id: record.id, type: record.type })),
      last_screen: screen === undefined ? null : { record_id: newest.id, screen },
    };
  };
}
