import { Type, type Static } from 'typebox';
import { Id } from '../../ids.ts';
import { LogEntry } from './logs.ts';
import { Device } from '../fleet/devices.ts';
import { RecordGroup } from '../evidence/record-groups.ts';
import { OutOfStepsRecord } from '../evidence/records.ts';
import { Replay } from '../evidence/replays.ts';
import { Run } from './runs.ts';
import type { RouteContract } from '../contract.ts';

/** Events of `GET /api/v2/events`. The event's name is `type`, and its data is the JSON of the remaining fields. */
export const ServiceEvent = Type.Union([
  Type.Object({ type: Type.Literal('device'), device: Device }),
  Type.Object({ type: Type.Literal('run'), run: Run }),
  Type.Object({ type: Type.Literal('log'), device_id: Type.String(), logs: Type.Array(LogEntry) }),
  Type.Object({ type: Type.Literal('record'), record: OutOfStepsRecord }),
  Type.Object({ type: Type.Literal('group'), group: RecordGroup }),
  Type.Object({ type: Type.Literal('replay'), replay: Replay }),
]);
export type ServiceEvent = Static<typeof ServiceEvent>;

export const eventRoutes = {
  stream: {
    method: 'GET',
    path: '/api/v2/events',
    operationId: 'events',
    tag: 'Events',
    summary: 'Follow devices, runs, logs, records, groups and replays as they change (server-sent events)',
    description:
      'Sends `device`, `run`, `log`, `record`, `group` and `replay` events about everything that the caller may see, from now on. A `log` event carries entries in the format of `automationLogs`, and its event ID is the ID of the last entry: after a disconnect, continue from there with `automationLogs`. The service closes a stream whose client reads too slowly: its last event is `error`, with an error body.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object({
      device_id: Type.Optional(Id),
      automation_id: Type.Optional(Id),
      types: Type.Optional(
        Type.String({
          pattern: '^(device|run|log|record|group|replay)(,(device|run|log|record|group|replay))*$',
          description: 'Event types, separated by commas. Default: all types',
        }),
      ),
    }),
    responses: { 200: ['text/event-stream'] },
    errors: ['too_many_streams', 'stream_fell_behind'],
  },
} as const satisfies Record<string, RouteContract>;
