import type { Logger } from 'pino';

import type { EventFeed } from '../events/event-feed.ts';
import type { RecordFigures } from '../health/metrics.ts';
import type { AutomationAccess } from './access-store.ts';
import { kindOf } from './cells.ts';
import type { ReadRecord } from './record-view.ts';
import type { StoredRecord, StoredScreen } from './stored-record.ts';

interface Options {
  access: AutomationAccess;
  read: ReadRecord;
  feed: EventFeed;
  figures: RecordFigures;
  log: Logger;
  /** Told how many records were deleted; their captures are still there. */
  onDeleted: (count: number) => void;
}

/** Tells those who follow what has become of records. */
export class RecordChanges {
  readonly #options: Options;
  /** One after the other: what was stored later is told later. */
  #told = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  stored(record: StoredRecord, screens: readonly StoredScreen[]): void {
    this.#options.figures.stored.inc({ type: kindOf(record.cell).type });
    this.changed(record, screens);
  }

  /** `screens`: those of a record that is new. */
  changed(record: StoredRecord, screens?: readonly StoredScreen[]): void {
    if (!this.#options.feed.isFollowed) return;
    this.#told = this.#told
      .then(() => this.#tell(record, screens))
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'a record event could not be sent');
      });
  }

  deleted(count: number): void {
    if (count > 0) this.#options.onDeleted(count);
  }

  async #tell(record: StoredRecord, screens?: readonly StoredScreen[]): Promise<void> {
    const { access, read, feed } = this.#options;
    const automation = { ownerId: record.owner_id, automationId: record.automation_id };
    const userIds = record.project_id === null ? [record.owner_id] : await access.listReviewers(automation);
    feed.recordChanged({ record: await read(record, screens), deviceId: record.device_id, userIds });
  }
}
