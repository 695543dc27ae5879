import { Type, type Static } from 'typebox';
import { Labels, Selector } from '../../phones/device-selector.ts';
import { searchText } from '../search-text.ts';
import { DeviceState, PhoneHealth, PhoneWarning } from '../../phones/phone-health.ts';
import { EpochMs, Id, Uuid } from '../../ids.ts';
import { NodeInspection } from '../../phones/phone-answers.ts';
import { PhoneApps } from '../../phones/app-limit.ts';
import { JsonObject, success, type RouteContract } from '../contract.ts';
import { pageOf, idPageQuery } from '../page.ts';
import { accepted } from '../access/accepted.ts';
import { DeviceRole, UserName } from '../access/shares.ts';

export const RunningAutomation = Type.Object(
  {
    run_id: Uuid,
    automation_id: Type.Union([Type.String(), Type.Null()], {
      description: 'Null for direct code of somebody else',
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
        'Of one phone for ever. With a serial number of its own a phone keeps it at every host; without one, at its place',
    }),
    serial: Type.String({
      description:
        'Its serial number, or what its host calls it, such as `usb:1-1`, when it has none of its own',
    }),
    name: Type.String({ description: 'That its owner gave it; empty without one' }),
    labels: Labels,
    state: DeviceState,
    reason: Type.String({ description: 'The state in a sentence that says what to do' }),
    since: EpochMs,
    warnings: Type.Array(PhoneWarning, {
      description: 'What somebody should look after; the phone takes launches all the same',
    }),
    battery_percent: Type.Union([Type.Integer({ minimum: 0, maximum: 100 }), Type.Null()], {
      description:
        'As its host last told it, in steps of five; null: it is not known, or there is no battery. `GET /devices/:id/health` has it to the percent',
    }),
    confirmed_at: Type.Union([EpochMs, Type.Null()], {
      description: 'When its host last confirmed it as ready',
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
            'Whether the host is connected; a phone that is `offline` all the same is not seen by it',
        }),
      }),
      Type.Null(),
    ]),
    running: Type.Array(RunningAutomation),
    lease: Type.Union([DeviceLease, Type.Null()], { description: 'Who controls it by hand' }),
    role: DeviceRole,
    accepted,
    owner: UserName,
  },
  { title: 'Device' },
);
export type Device = Static<typeof Device>;

const pixels = Type.Integer({ minimum: 1 });

/** The screen of a phone at one moment. */
export const DeviceScreen = Type.Object({
  captured_at: EpochMs,
  rotation: Type.Integer({ minimum: 0, maximum: 3, description: 'Quarter turns' }),
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
      description: 'What is to be known of the picture, such as that it is all black and nobody knows why',
    }),
  ),
  tree: Type.Object(
    {
      packageName: Type.String(),
      source: Type.String(),
      root: JsonObject,
    },
    { description: 'The accessibility tree, in the form of `uiUrl` of a record' },
  ),
});
export type DeviceScreen = Static<typeof DeviceScreen>;

export const ScreenId = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{6}$',
  description: 'Of a compact screen that was read within the last ten minutes',
  examples: ['7f3a91c2-5be014'],
});

/** The screen of a phone in few words. */
export const CompactScreenView = Type.Object(
  {
    screen_id: ScreenId,
    view: Type.Enum(['compact', 'diff'] as const, {
      description: 'A screen that differs much is told as a whole, also when its changes were asked for',
    }),
    captured_at: EpochMs,
    lines: Type.Array(Type.String(), {
      description:
        'Compact: the app and the size, a numbered line for each thing that can be read or touched, and what is left out. Diff: `-` and the numbers that are gone, `+` a new line, `~` a changed one. What is the same keeps its number.',
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

/** The phones that the caller owns or shares. */
export const deviceRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/devices',
    operationId: 'listDevices',
    tag: 'Devices',
    summary:
      'List your devices and those that are shared with you, in the order in which they were first seen',
    scope: 'read',
    reach: { projects: 'open', phones: 'selector' },
    query: Type.Object({
      ...idPageQuery,
      state: Type.Optional(DeviceState),
      host_id: Type.Optional(Uuid),
      search: Type.Optional(
        searchText('Part of ID, serial number, name, brand or model, in any letter case'),
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
    summary: 'Read what the screen shows now: tree and picture of one moment',
    description:
      '`view=compact` gives about 300 tokens in place of 16,000, for coding agents, with numbers that `act` takes; `view=diff` what has changed since the screen `since`, which keeps the numbers of what is the same. The full reply has an `ETag`: with `If-None-Match`, a screen that is still the same is answered with 304. The picture is null where the app in front forbids pictures (FLAG_SECURE) and when the screen is off.',
    scope: 'read',
    reach: { projects: 'open', phones: 'path' },
    params,
    query: Type.Object({
      width: Type.Optional(
        Type.Integer({ minimum: 16, maximum: 10_000, description: 'Most pixels of the picture in width' }),
      ),
      view: Type.Optional(Type.Enum(['full', 'compact', 'diff'] as const, { description: 'Default `full`' })),
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
      'The phone looks for the node again, as `act` does. Each selector was tried on the screen as it is now.',
    scope: 'read',
    reach: { projects: 'open', phones: 'refused' },
    params: Type.Object({
      id: Id,
      screen_id: ScreenId,
      number: Type.String({ pattern: '^[0-9]{1,4}$', description: 'Of the line', examples: ['3'] }),
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
    summary: 'Read how a phone is, what it went through, and what its host did to mend it',
    description:
      'The last 200 events, also those from before a restart of its host, which keeps them and is asked: it has to be connected.',
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
    summary: 'List the apps that are installed on a phone, by package name',
    description: 'The phone is asked: its host has to be connected.',
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
