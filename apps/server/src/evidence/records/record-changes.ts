import type { Logger } from 'pino';
import type { EventFeed } from '../../runs/events/event-feed.ts';
import { OrderedEvents } from '../../runs/events/ordered-events.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import type { AutomationAccess } from './access-store.ts';
import type { ReadRecord } from './record-view.ts';
import type { StoredRecord, StoredScreen } from './stored-record.ts';

interface Options {
  access: AutomationAccess;
  read: ReadRecord;
  feed: EventFeed;
  figures: RecordFigures;
  log: Logger;
  /** Called with the number of deleted records, whose captures still exist. */
  onDeleted: (count: number) => void;
}

/** Publishes changes of records to followers. */
export class RecordChanges {
  readonly #options: Options;
  readonly #events: OrderedEvents;

  constructor(options: Options) {
    this.#options = options;
    this.#events = new OrderedEvents(options.log, 'a record event could not be sent');
  }

  stored(record: StoredRecord, screens: readonly StoredScreen[]): void {
    this.#options.figures.stored.inc({ type: record.type });
    this.changed(record, screens);
  }

  /** Publishes a changed record. `screens` are those of a new record. */
  changed(record: StoredRecord, screens?: readonly StoredScreen[]): void {
    if (!this.#options.feed.isFollowed) return;
    this.#events.add(() => this.#publish(record, screens));
  }

  deleted(count: number): void {
    if (count > 0) this.#options.onDeleted(count);
  }

  async #publish(record: StoredRecord, screens?: readonly StoredScreen[]): Promise<void> {
    const { access, read, feed } = this.#options;
    const automation = { ownerId: record.owner_id, automationId: record.automation_id };
    const userIds =
      record.project_id === null ? [record.owner_id] : await access.listAcceptedReviewers(automation);
    feed.recordChanged({ record: await read(record, screens), deviceId: record.device_id, userIds });
  }
}
