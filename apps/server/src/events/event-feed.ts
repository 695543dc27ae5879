import type { OutOfStepsRecord, ServiceEvent } from '@phalanx/protocol';

import type { EventBus } from './event-bus.ts';
import { deviceView } from '../devices/device-view.ts';
import type { Fleet } from '../devices/fleet.ts';
import { entrySeparator, type LogBatch } from '../logs/log-batch.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import { runView } from '../runs/run-view.ts';
import type { StoredRun } from '../runs/stored-run.ts';

/** An event on its way to those who follow: ready to be written, with what they filter by. */
export interface FeedEvent {
  readonly type: ServiceEvent['type'];
  readonly userId: string;
  readonly deviceId: string;
  /** `null` for a device: it is of interest whatever runs on it. */
  readonly automationId: string | null;
  /** JSON of the event without its type. */
  readonly data: string;
  /** Of the last log entry; empty for other events. */
  readonly lastId: string;
}

/** A record that is new or has changed, and who may see it. */
interface RecordNews {
  record: OutOfStepsRecord;
  deviceId: string;
  userIds: readonly string[];
}

interface Sources {
  bus: EventBus<FeedEvent>;
  fleet: Fleet;
  activeRuns: ActiveRuns;
}

/** Makes events of what changes, when somebody follows. */
export class EventFeed {
  readonly #sources: Sources;

  constructor(sources: Sources) {
    this.#sources = sources;
    sources.fleet.onChange((device) => this.#device(device.id));
  }

  /** False when an event would reach nobody, so that making it can be saved. */
  get isFollowed(): boolean {
    return this.#sources.bus.hasListeners;
  }

  /** A run that begins or ends also changes whether its device is busy. */
  runsChanged(rows: readonly StoredRun[]): void {
    if (!this.isFollowed) return;
    for (const row of rows) {
      this.#run(row);
      this.#device(row.device_id);
    }
  }

  logsStored({ stream, entries, lastId }: LogBatch): void {
    if (!this.isFollowed) return;
    this.#sources.bus.publish({
      type: 'log',
      userId: stream.ownerId,
      deviceId: stream.deviceId,
      automationId: stream.automationId,
      data: `{"device_id":${JSON.stringify(stream.deviceId)},"logs":[${entries.replaceAll(entrySeparator, ',')}]}`,
      lastId,
    });
  }

  /** Everybody who may review the record is told. */
  recordChanged({ record, deviceId, userIds }: RecordNews): void {
    const data = JSON.stringify({ record });
    const automationId = record.automation_id;
    for (const userId of userIds) {
      this.#sources.bus.publish({ type: 'record', userId, deviceId, automationId, data, lastId: '' });
    }
  }

  #device(deviceId: string): void {
    const { bus, fleet, activeRuns } = this.#sources;
    const device = this.isFollowed ? fleet.find(deviceId) : undefined;
    if (device === undefined) return;
    bus.publish({
      type: 'device',
      userId: device.ownerId,
      deviceId,
      automationId: null,
      data: JSON.stringify({ device: deviceView(fleet, activeRuns, device) }),
      lastId: '',
    });
  }

  #run(row: StoredRun): void {
    this.#sources.bus.publish({
      type: 'run',
      userId: row.user_id,
      deviceId: row.device_id,
      automationId: row.automation_id,
      data: JSON.stringify({ run: runView(row) }),
      lastId: '',
    });
  }
}
