import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../ids.ts';
import { success, type RouteContract } from './contract.ts';

export const RunningAutomation = Type.Object({
  run_id: Uuid,
  automation_id: Type.String(),
  started_at: Type.Union([EpochMs, Type.Null()]),
});

export const Device = Type.Object({
  device_id: Type.String({
    description: 'Stable for owner and serial; survives re-plugging and a change of host',
  }),
  serial: Type.String(),
  state: Type.String({
    description:
      '`ready`, `busy` (ready and running automations), or why it is not: `offline`, `unauthorized`, `booting`, `helper_failed`, …',
  }),
  reason: Type.String({ description: 'The state in a sentence that says what to do' }),
  since: EpochMs,
  confirmed_at: Type.Union([EpochMs, Type.Null()], {
    description: 'When its host last confirmed it as ready',
  }),
  brand: Type.String(),
  model: Type.String(),
  android_version: Type.String(),
  sdk_version: Type.Integer(),
  screen_width: Type.Integer(),
  screen_height: Type.Integer(),
  host: Type.Union([Type.Object({ id: Uuid, name: Type.String(), connected: Type.Boolean() }), Type.Null()]),
  running: Type.Array(RunningAutomation),
});
export type Device = Static<typeof Device>;

const params = Type.Object({ id: Id });

/** The caller's phones. */
export const deviceRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/devices',
    operationId: 'listDevices',
    tag: 'Devices',
    summary: 'List your devices',
    scope: 'read',
    responses: { 200: Type.Object({ success, devices: Type.Array(Device) }) },
  },
  get: {
    method: 'GET',
    path: '/api/v2/devices/:id',
    operationId: 'getDevice',
    tag: 'Devices',
    summary: 'Read one device',
    scope: 'read',
    params,
    responses: { 200: Type.Object({ success, device: Device }) },
    errors: [404],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/devices/:id',
    operationId: 'deleteDevice',
    tag: 'Devices',
    summary: 'Forget a device that is no longer connected',
    scope: 'admin',
    params,
    responses: { 200: Type.Object({ success, message: Type.String() }) },
    errors: [404, 409],
  },
  screenshot: {
    method: 'GET',
    path: '/api/v2/devices/:id/screenshot',
    operationId: 'deviceScreenshot',
    tag: 'Devices',
    summary: 'Take a screenshot now (JPEG)',
    scope: 'read',
    params,
    responses: { 200: 'image/jpeg' },
    errors: [404, 502],
  },
} as const satisfies Record<string, RouteContract>;
