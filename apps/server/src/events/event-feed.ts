import type { OutOfStepsRecord, ServiceEvent } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { DeviceAccess } from '../devices/device-access.ts';
import { deviceView } from '../devices/device-view.ts';
import { entrySeparator, type LogBatch } from '../logs/log-batch.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import { originOf, type RunAccess, type RunOrigin } from '../runs/run-access.ts';
import { runView, type StoredRun } from '../runs/stored-run.ts';

type Listener<Event> = (event: Event) => void;

/** Hands events to whoever listens in this process. A listener must not throw. */
export class EventBus<Event> {
  readonly #listeners = new Set<Listener<Event>>();

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  publish(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: Listener<Event>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

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
  devices: DeviceAccess;
  activeRuns: ActiveRuns;
  runAccess: RunAccess;
  log: Logger;
}

/** Makes events of what changes, when somebody follows. */
export class EventFeed {
  readonly #sources: Sources;
  /** Events whose readers are looked up, one after the other. */
  #told = Promise.resolve();

  constructor(sources: Sources) {
    this.#sources = sources;
    sources.devices.fleet.onChange((device) => this.#device(device.id));
    sources.devices.leases.onChange((device) => this.#device(device.id));
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
    const data = `{"device_id":${JSON.stringify(stream.deviceId)},"logs":[${entries.replaceAll(entrySeparator, ',')}]}`;
    this.#tellReaders(stream, { type: 'log', data, lastId });
  }

  /** Everybody who may review the record is told. */
  recordChanged({ record, deviceId, userIds }: RecordNews): void {
    const data = JSON.stringify({ record });
    const automationId = record.automation_id;
    for (const userId of userIds) {
      this.#sources.bus.publish({ type: 'record', userId, deviceId, automationId, data, lastId: '' });
    }
  }

  /** Everybody who has a part in the device is told, each with their own role. */
  #device(deviceId: string): void {
    const { bus, devices, activeRuns } = this.#sources;
    const device = this.isFollowed ? devices.fleet.find(deviceId) : undefined;
    if (device === undefined) return;
    for (const userId of devices.shares.usersOf(device)) {
      const seen = devices.find(deviceId, userId);
      if (seen === undefined) continue;
      const data = JSON.stringify({ device: deviceView(devices, activeRuns, { ...seen, viewerId: userId }) });
      bus.publish({ type: 'device', userId, deviceId, automationId: null, data, lastId: '' });
    }
  }

  #run(row: StoredRun): void {
    const data = JSON.stringify({ run: runView(row) });
    this.#tellReaders(originOf(row), { type: 'run', data, lastId: '' });
  }

  #tellReaders(run: RunOrigin, event: Pick<FeedEvent, 'type' | 'data' | 'lastId'>): void {
    const { runAccess, log } = this.#sources;
    if (runAccess.isPrivate(run)) return this.#publish(run, [run.userId], event);
    this.#told = this.#told
      .then(async () => this.#publish(run, await runAccess.listReaders(run), event))
      .catch((error: unknown) => log.error({ err: error }, 'an event could not be sent'));
  }

  #publish(
    { deviceId, automationId }: RunOrigin,
    userIds: readonly string[],
    event: Pick<FeedEvent, 'type' | 'data' | 'lastId'>,
  ): void {
    for (const userId of userIds) this.#sources.bus.publish({ ...event, userId, deviceId, automationId });
  }
}
