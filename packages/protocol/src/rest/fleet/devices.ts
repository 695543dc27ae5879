import { Type, type Static } from 'typebox';
import { Labels, Selector } from '../../phones/device-selector.ts';
import { searchText } from '../search-text.ts';
import { DeviceState, PhoneHealth, PhoneWarning } from '../../phones/phone-health.ts';
import { EpochMs, Id, Uuid } from '../../ids.ts';
import { NodeInspection } from '../../phones/phone-answers.ts';
import { PhoneApps } from '../../phones/app-limit.ts';
import { JsonObject, success, type RouteContract } from '../contract.ts';
import { pageOf, idPageQuery } from '../page.ts';
import { accepted } from './accepted.ts';
import { DeviceRole, UserName } from './members.ts';

export const RunningAutomation = Type.Object(
  {
    run_id: Uuid,
    automation_id: Type.Union([Type.String(), Type.Null()], {
      description: 'ID of the project, or the launch ID of direct code; null for direct code of another user',
    }),
    started_at: Type.Union([EpochMs, Type.Null()]),
    user: UserName,
  },
  { title: 'RunningAutomation' },
);

/** Holder and time of a device's lease. */
export const DeviceLease = Type.Object(
  { user: UserName, since: EpochMs, expires_at: EpochMs },
  { title: 'DeviceLease' },
);
export type DeviceLease = Static<typeof DeviceLease>;

export const Device = Type.Object(
  {
    device_id: Type.String({
      description:
        'Permanent ID of one device. A device with a unique serial number keeps its ID at every host; one without keeps it while it stays at the same port of the same host',
    }),
    serial: Type.String({
      description:
        'Serial number, or the name that the host gives it, such as `usb:1-1`, if it has no unique serial number',
    }),
    name: Type.String({ description: 'Name given by the owner; empty without one' }),
    labels: Labels,
    state: DeviceState,
    reason: Type.String({ description: 'Explanation of the state in a sentence, with what to do' }),
    since: EpochMs,
    warnings: Type.Array(PhoneWarning, {
      description: 'Problems that need attention but do not prevent launches',
    }),
    battery_percent: Type.Union([Type.Integer({ minimum: 0, maximum: 100 }), Type.Null()], {
      description:
        'Battery level that its host last reported, in percent, in steps of five; null: unknown, or no battery. `GET /api/v2/devices/:id/history` has the exact level',
    }),
    confirmed_at: Type.Union([EpochMs, Type.Null()], {
      description: 'When its host last confirmed that the device is ready',
    }),
    brand: Type.String(),
    model: Type.String(),
    android_version: Type.String(),
    sdk_version: Type.Integer(),
    screen_width: Type.Integer(),
    screen_height: Type.Integer(),
    host: Type.Union([
      Type.Object({
        id: Uuid,
        name: Type.String(),
        connected: Type.Boolean({
          description:
            'Whether the host is connected to the service. A device that is `offline` although its host is connected is not connected to that host',
        }),
      }),
      Type.Null(),
    ]),
    running: Type.Array(RunningAutomation),
    lease: Type.Union([DeviceLease, Type.Null()], {
      description: 'The lease of the user who controls the device by hand; null: nobody does',
    }),
    role: DeviceRole,
    accepted,
    owner: UserName,
  },
  { title: 'Device' },
);
export type Device = Static<typeof Device>;

const pixels = Type.Integer({ minimum: 1 });

/** Screen of a phone at one moment. */
export const DeviceScreen = Type.Object({
  captured_at: EpochMs,
  rotation: Type.Integer({ minimum: 0, maximum: 3, description: 'Rotation of the screen, in quarter turns' }),
  width: pixels,
  height: pixels,
  picture: Type.Union([
    Type.Object({ mime_type: Type.Literal('image/jpeg'), base64: Type.String() }),
    Type.Null(),
  ]),
  picture_reason: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'Why there is no picture' }),
  ),
  picture_remark: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'A remark about the picture, such as that it is all black for an unknown reason',
    }),
  ),
  tree: Type.Object(
    {
      packageName: Type.String(),
      source: Type.String(),
      root: JsonObject,
    },
    { description: 'The accessibility tree, in the format of `uiUrl` of a record' },
  ),
});
export type DeviceScreen = Static<typeof DeviceScreen>;

export const ScreenId = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{6}$',
  description: 'ID of a compact screen that was read in the last ten minutes',
  examples: ['7f3a91c2-5be014'],
});

/** Screen of a phone in compact form. */
export const CompactScreenView = Type.Object(
  {
    screen_id: ScreenId,
    view: Type.Enum(['compact', 'diff'] as const, {
      description: 'Format of `lines`. A request for `diff` gets `compact` if most of the screen has changed',
    }),
    captured_at: EpochMs,
    lines: Type.Array(Type.String(), {
      description:
        '`compact`: the app and the screen size, a numbered line for each node that can be read or touched, and what is left out. `diff`: `-` with the numbers of removed lines, `+` before a new line, `~` before a changed line. Unchanged nodes keep their numbers.',
    }),
  },
  { title: 'CompactScreen' },
);
export type CompactScreenView = Static<typeof CompactScreenView>;

export const isCompactView = (screen: DeviceScreen | CompactScreenView): screen is CompactScreenView =>
  'lines' in screen;

/** Returns the reply to a request without `view`. */
export function wholeScreen(screen: DeviceScreen | CompactScreenView): DeviceScreen {
  if (isCompactView(screen)) throw new TypeError('A compact screen has no tree and no picture.');
  return screen;
}

const params = Type.Object({ id: Id });

/** Phones that the caller owns, or that are shared with the caller. */
export const deviceRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/devices',
    operationId: 'listDevices',
    tag: 'Devices',
    summary:
      'List your devices and those that are shared with you, in the order in which they were first connected',
    scope: 'read',
    reach: { projects: 'open', phones: 'selector' },
    query: Type.Object({
      ...idPageQuery,
      state: Type.Optional(DeviceState),
      host_id: Type.Optional(Uuid),
      search: Type.Optional(
        searchText('Part of the ID, serial number, name, brand or model, case-insensitive'),
      ),
      selector: Type.Optional(Selector),
    }),
    responses: { 200: pageOf({ devices: Type.Array(Device) }) },
    errors: ['invalid_selector'],
  },
  get: {
    method: 'GET',
    path: '/api/v2/devices/:id',
    operationId: 'getDevice',
    tag: 'Devices',
    summary: 'Read one device',
    scope: 'read',
    reach: { projects: 'open', phones: 'path' },
    params,
    responses: { 200: Type.Object({ success, device: Device }) },
    errors: ['device_not_found'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/devices/:id',
    operationId: 'deleteDevice',
    tag: 'Devices',
    summary: 'Forget a device that is no longer connected',
    scope: 'admin',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'forget_device',
    params,
    responses: { 200: Type.Object({ success, message: Type.String() }) },
    errors: ['device_not_found', 'device_busy'],
  },
  screen: {
    method: 'GET',
    path: '/api/v2/devices/:id/screen',
    operationId: 'deviceScreen',
    tag: 'Devices',
    summary: 'Read the current screen of a device: its tree and its picture, captured at the same moment',
    description:
      '`view=compact` is meant for coding agents: it takes about 300 tokens instead of 16,000, and its line numbers are the targets of `act`. `view=diff` returns the changes since the screen `since`, in which unchanged nodes keep their numbers. The full reply has an `ETag`: with `If-None-Match`, an unchanged screen is answered with 304. The picture is null while the app in front forbids screenshots (FLAG_SECURE) and while the screen is off.',
    scope: 'read',
    reach: { projects: 'open', phones: 'path' },
    params,
    query: Type.Object({
      width: Type.Optional(
        Type.Integer({
          minimum: 16,
          maximum: 10_000,
          description: 'Maximum width of the picture, in pixels',
        }),
      ),
      view: Type.Optional(
        Type.Enum(['full', 'compact', 'diff'] as const, {
          description: 'Format of the reply. Default `full`',
        }),
      ),
      since: Type.Optional(ScreenId),
    }),
    responses: {
      200: Type.Object({ success, screen: Type.Union([DeviceScreen, CompactScreenView]) }),
      304: [],
    },
    errors: [
      ...(['device_not_found', 'device_offline', 'screen_failed', 'screen_expired'] as const),
      ...(['too_many_waiting', 'too_busy', 'app_not_allowed'] as const),
    ],
  },
  node: {
    method: 'GET',
    path: '/api/v2/devices/:id/screens/:screen_id/nodes/:number',
    operationId: 'inspectNode',
    tag: 'Devices',
    summary: 'Inspect a line of a compact screen: its attributes, and the selectors that find it',
    description:
      'The node is searched again on the current screen, as in `act`, and each selector is tested there.',
    scope: 'read',
    reach: { projects: 'open', phones: 'refused' },
    params: Type.Object({
      id: Id,
      screen_id: ScreenId,
      number: Type.String({ pattern: '^[0-9]{1,4}$', description: 'Number of the line', examples: ['3'] }),
    }),
    responses: { 200: Type.Object({ success, node: NodeInspection }) },
    errors: [
      ...(['device_not_found', 'device_offline', 'screen_expired', 'host_request_failed'] as const),
      'app_not_allowed',
    ],
  },
  history: {
    method: 'GET',
    path: '/api/v2/devices/:id/history',
    operationId: 'deviceHistory',
    tag: 'Devices',
    summary:
      'Read the health of a device: its battery and storage, its state changes, and the repairs that its host tried',
    description:
      'Returns the last 200 events. The host keeps them, also across restarts, and must be connected.',
    scope: 'read',
    reach: { projects: 'open', phones: 'path' },
    params,
    responses: { 200: Type.Object({ success, health: PhoneHealth }) },
    errors: ['device_not_found', 'device_offline', 'host_request_failed'],
  },
  apps: {
    method: 'GET',
    path: '/api/v2/devices/:id/apps',
    operationId: 'deviceApps',
    tag: 'Devices',
    summary: 'List the apps that are installed on a device, by package name',
    description: 'The list is read from the device, so its host must be connected.',
    scope: 'read',
    reach: { projects: 'open', phones: 'path' },
    params,
    responses: { 200: Type.Object({ success, apps: PhoneApps }) },
    errors: ['device_not_found', 'device_offline', 'host_request_failed'],
  },
  screenshot: {
    method: 'GET',
    path: '/api/v2/devices/:id/screenshot',
    operationId: 'deviceScreenshot',
    tag: 'Devices',
    summary: 'Take a screenshot now (JPEG)',
    scope: 'read',
    reach: { projects: 'open', phones: 'path' },
    params,
    responses: { 200: ['image/jpeg'] },
    errors: ['device_not_found', 'device_offline', 'screenshot_failed', 'app_not_allowed'],
  },
} as const satisfies Record<string, RouteContract>;
