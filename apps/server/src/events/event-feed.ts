import type { ServiceEvent } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { EventBus } from '../bus/event-bus.ts';
import { deviceView } from '../devices/device-view.ts';
import type { Fleet } from '../devices/fleet.ts';
import { entrySeparator, type LogBatch } from '../logs/log-batch.ts';
import type { RecordNews } from '../records/record-changes.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import { runView } from '../runs/run-view.ts';
import type { RunHistory } from '../runs/run-history.ts';

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

interface Sources {
  bus: EventBus<FeedEvent>;
  fleet: Fleet;
  activeRuns: ActiveRuns;
  runs: RunHistory;
  log: Logger;
}

/** Makes events of what changes, when somebody follows. */
export class EventFeed {
  readonly #sources: Sources;

  constructor(sources: Sources) {
    this.#sources = sources;
    sources.fleet.onChange((device) => this.#device(device.id));
  }

  runsChanged(runIds: readonly string[]): void {
    if (!this.#sources.bus.hasListeners) return;
    this.#publishRuns(runIds).catch((error: unknown) => {
      this.#sources.log.error({ err: error }, 'run events could not be sent');
    });
  }

  logsStored({ stream, entries, lastId }: LogBatch): void {
    if (!this.#sources.bus.hasListeners) return;
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
    const device = bus.hasListeners ? fleet.find(deviceId) : undefined;
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

  /** A run that begins or ends also changes whether its device is busy. */
  async #publishRuns(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) {
      const row = await this.#sources.runs.find(runId);
      if (row === undefined) continue;
      this.#sources.bus.publish({
        type: 'run',
        userId: row.user_id,
        deviceId: row.device_id,
        automationId: row.automation_id,
        data: JSON.stringify({ run: runView(row) }),
        lastId: '',
      });
      this.#device(row.device_id);
    }
  }
}
