import type { OutOfStepsRecord } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { AutomationAccess } from './access-store.ts';
import { kindOf } from './cells.ts';
import type { ReadRecord } from './record-reader.ts';
import type { RecordStore } from './store.ts';
import type { StoredRecord } from './stored-record.ts';

/** A record that is new or has changed, and who may see it. */
export interface RecordNews {
  record: OutOfStepsRecord;
  deviceId: string;
  userIds: readonly string[];
}

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  read: ReadRecord;
  log: Logger;
  /** False when nobody follows, so that making the news can be saved. */
  isFollowed: () => boolean;
  publish: (news: RecordNews) => void;
  /** Counts a record that was stored. */
  onStored: (type: OutOfStepsRecord['type']) => void;
  /** Told how many records were deleted; their captures are still there. */
  onDeleted: (count: number) => void;
}

/** Tells those who follow what has become of records. */
export class RecordChanges {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  stored(record: StoredRecord): void {
    this.#options.onStored(kindOf(record.cell).type);
    this.changed(record);
  }

  changed({ id }: StoredRecord): void {
    if (!this.#options.isFollowed()) return;
    this.#publish(id).catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'a record event could not be sent');
    });
  }

  deleted(count: number): void {
    if (count > 0) this.#options.onDeleted(count);
  }

  /** Read again: what is told is what is stored. */
  async #publish(id: string): Promise<void> {
    const { store, access, read, publish } = this.#options;
    const record = await store.find(id);
    if (record === undefined) return;
    const automation = { ownerId: record.owner_id, automationId: record.automation_id };
    const userIds = await access.listReviewers(automation);
    publish({ record: await read(record), deviceId: record.device_id, userIds });
  }
}
