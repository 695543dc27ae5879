import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OutOfStepsRecord, RecordGroup, Replay } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { deviceView, type RunsByDevice } from '../../fleet/devices/device-view.ts';
import { entrySeparator, type LogBatch } from '../logs/log-batch.ts';
import type { RunAccess } from '../runs/run-access.ts';
import { originOf, type RunOrigin, runView, type StoredRun } from '../runs/stored-run.ts';
import type { EventBus, FeedEvent } from './event-bus.ts';
import { OrderedEvents } from './ordered-events.ts';

/** Number of devices per batch: publishing their events takes about 2 ms. */
const devicesAtOnce = 100;

/** A new or changed record, and the users who may see it. */
interface RecordChange {
  record: OutOfStepsRecord;
  deviceId: string;
  userIds: readonly string[];
}

interface Sources {
  bus: EventBus;
  devices: DeviceAccess;
  activeRunRows: RunsByDevice;
  runAccess: RunAccess;
  log: Logger;
}

/** Publishes events for changes, while there are subscribers. */
export class EventFeed {
  readonly #sources: Sources;
  readonly #events: OrderedEvents;

  constructor(sources: Sources) {
    this.#sources = sources;
    this.#events = new OrderedEvents(sources.log, 'an event could not be sent');
    sources.devices.fleet.onChange((deviceIds) => this.#devicesChanged(deviceIds));
    sources.devices.leases.onChange((device) => this.#devicesChanged([device.id]));
  }

  /** Whether there are subscribers. When false, callers can skip creating events. */
  get isFollowed(): boolean {
    return this.#sources.bus.isFollowed;
  }

  /** Publishes changed runs and their devices: a run that begins or ends also changes whether its device is busy. */
  runsChanged(rows: readonly StoredRun[]): void {
    if (!this.isFollowed) return;
    const events = rows.map((row) => ({ row, data: JSON.stringify({ run: runView(row) }) }));
    this.#events.add(async () => {
      for (const { row, data } of events)
        await this.#publishToReaders(originOf(row), { type: 'run', data, lastId: '' });
      await this.#publishDevices(rows.map((row) => row.device_id));
    });
  }

  logsStored({ stream, entries, lastId }: LogBatch): void {
    if (!this.isFollowed) return;
    const data = `{"device_id":${JSON.stringify(stream.deviceId)},"logs":[${entries.replaceAll(entrySeparator, ',')}]}`;
    this.#events.add(() => this.#publishToReaders(stream, { type: 'log', data, lastId }));
  }

  /** Publishes a record to these users, who may review it and have accepted its project. */
  recordChanged({ record, deviceId, userIds }: RecordChange): void {
    const data = JSON.stringify({ record });
    const automationId = record.automation_id;
    for (const userId of userIds) {
      this.#sources.bus.publish({ type: 'record', userId, deviceId, automationId, data, lastId: '' });
    }
  }

  /** Publishes a group to the users who may review its records. A group has no single device. */
  groupChanged({ group, userIds }: { group: RecordGroup; userIds: readonly string[] }): void {
    const data = JSON.stringify({ group });
    const automationId = group.automation_id;
    for (const userId of userIds)
      this.#sources.bus.publish({ type: 'group', userId, deviceId: '', automationId, data, lastId: '' });
  }

  /** Publishes a replay to the users who may review the project's records. */
  replayChanged({ replay, userIds }: { replay: Replay; userIds: readonly string[] }): void {
    const data = JSON.stringify({ replay });
    const automationId = replay.project_id;
    for (const userId of userIds)
      this.#sources.bus.publish({ type: 'replay', userId, deviceId: '', automationId, data, lastId: '' });
  }

  #devicesChanged(deviceIds: readonly string[]): void {
    if (this.isFollowed) this.#events.add(() => this.#publishDevices(deviceIds));
  }

  /** Publishes devices to all users who have accepted a share of them, each with the user's own role. */
  async #publishDevices(deviceIds: readonly string[]): Promise<void> {
    const all = [...new Set(deviceIds)];
    for (let first = 0; first < all.length; first += devicesAtOnce) {
      await this.#publishBatch(all.slice(first, first + devicesAtOnce));
      await nextTurn();
    }
  }

  async #publishBatch(deviceIds: readonly string[]): Promise<void> {
    const { bus, devices, activeRunRows } = this.#sources;
    const running = await activeRunRows.mapByDevice(deviceIds);
    for (const device of (await devices.fleet.findAll(deviceIds)).values()) {
      for (const userId of devices.shares.acceptedUsersOf(device)) {
        const role = devices.shares.roleOf(userId, device);
        if (role === undefined) continue;
        const view = deviceView(devices, running.get(device.id) ?? [], { device, role, viewerId: userId });
        const data = JSON.stringify({ device: view });
        bus.publish({ type: 'device', userId, deviceId: device.id, automationId: null, data, lastId: '' });
      }
    }
  }

  async #publishToReaders(run: RunOrigin, event: Pick<FeedEvent, 'type' | 'data' | 'lastId'>): Promise<void> {
    const { runAccess, bus } = this.#sources;
    const { deviceId, automationId } = run;
    for (const userId of await runAccess.listRecipients(run))
      bus.publish({ ...event, userId, deviceId, automationId });
  }
}
