import type { OutOfStepsRecord } from '@phalanx/protocol';

import type { AutomationAccess } from './access-store.ts';
import { recordView, type CaptureUrl } from './record-view.ts';
import type { RecordStore } from './store.ts';
import type { StoredRecord, StoredScreen } from './stored-record.ts';

/** Gives a record as the API shows it; with the screens of one that is new, it reads nothing. */
export type ReadRecord = (
  record: StoredRecord,
  screens?: readonly StoredScreen[],
) => Promise<OutOfStepsRecord>;

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  captureUrl: CaptureUrl;
}

export function createReadRecord({ store, access, captureUrl }: Options): ReadRecord {
  /** A project may have another name by now. */
  const nameOf = async ({ project_id: projectId, automation_name: name }: StoredRecord): Promise<string> =>
    (projectId === null ? undefined : await access.findProject(projectId))?.name ?? name;

  return async (record, known) => {
    if (known !== undefined) return recordView(record, known, captureUrl);
    const screens = await store.listScreens(record.id);
    return recordView({ ...record, automation_name: await nameOf(record) }, screens, captureUrl);
  };
}
