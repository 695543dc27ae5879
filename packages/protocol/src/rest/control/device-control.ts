import { Type, type Static } from 'typebox';
import { ActRefusal, ActStep, maxActSteps, PhoneInput } from '../../phones/act.ts';
import { Id } from '../../ids.ts';
import { Selector } from '../../phones/device-selector.ts';
import { TouchedWindow } from '../../phones/touch.ts';
import { PhoneClipboard, SentFile, SentFilePart } from '../../phones/sent-file.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';
import { CompactScreenView, DeviceLease, ScreenId } from '../fleet/devices.ts';

const params = Type.Object({ id: Id });
const leaseId = Type.Optional(
  Type.String({
    maxLength: 100,
    description: 'ID of your lease; if that lease has ended, the request is refused with `lease_lost`',
  }),
);

/** Results of the steps of an `act`. */
export const ActOutcome = Type.Object(
  {
    done: Type.Boolean({ description: 'Whether all steps succeeded' }),
    steps: Type.Array(
      Type.Object(
        {
          type: Type.String(),
          state: Type.Enum(['done', 'failed', 'skipped'] as const),
          refusal: Type.Optional(ActRefusal),
          message: Type.Optional(Type.String()),
          candidates: Type.Optional(
            Type.Array(Type.String(), { description: 'Lines of `screen` that could match the target' }),
          ),
        },
        { title: 'ActStepOutcome' },
      ),
    ),
    screen: CompactScreenView,
    settled: Type.Boolean({ description: 'Whether the screen came to rest; false: it keeps changing' }),
    captures: Type.Integer({ minimum: 0, description: 'How often the screen was read' }),
    code: Type.Array(Type.String(), {
      description: 'The steps as code of an automation, with waits for the nodes that they acted on',
      examples: [["await (await agent.actions.waitForText('Settings')).tap();"]],
    }),
  },
  { title: 'ActOutcome' },
);
export type ActOutcome = Static<typeof ActOutcome>;

/** Manual control of phones: live views, touches, and leases that exclude other users. */
export const deviceControlRoutes = {
  live: {
    method: 'GET',
    path: '/api/v2/devices/:id/live',
    operationId: 'deviceLive',
    tag: 'Devices',
    summary: 'Watch the screen live (WebSocket)',
    description:
      'Send `{"type":"next"}` to request each picture. The answer is `{"type":"frame","captured_at","width","height"}`, followed by a binary message with the JPEG; or, after a second without a change, `{"type":"still","captured_at"}`; or `{"type":"nothing","reason"}` while there is no picture. `width` and `height` are the size of the screen in pixels, which are the coordinates of `input`; the picture is at most 540 pixels wide. All viewers of a device share one stream of at most ten pictures per second; no pictures are taken while no viewer requests any. With `?video=h264`, answers may be `{"type":"video","captured_at","width","height","codec","packets":[{"is_key","size_bytes"}]}` instead, followed by a binary message with these H.264 packets (Annex B), concatenated: the first packet is a key frame, and so is the first packet after any that were skipped because you were too slow. You may then send up to 30 `next` ahead; each answer uses up one. While video is not available, for example because a mask is active on the device, you get pictures, and `no_video` in their messages says why. Close codes: 4003 when the token has ended, 4004 when you may no longer see the device.',
    scope: 'read',
    reach: { projects: 'open', phones: 'path', apps: 'refused' },
    params,
    query: Type.Object({
      video: Type.Optional(
        Type.Enum(['h264'] as const, {
          description: 'Video codec that the client can decode. Default: only pictures',
        }),
      ),
    }),
    responses: { 101: [] },
    errors: ['device_not_found', 'upgrade_required', 'too_many_streams'],
  },
  wall: {
    method: 'GET',
    path: '/api/v2/devices/live',
    operationId: 'devicesLive',
    tag: 'Devices',
    summary: 'Watch small live pictures of many devices on one connection (WebSocket)',
    description:
      'Send `{"type":"watch","device_ids":[…]}` to start watching devices, at most 20 in one message and 200 in total, and `{"type":"leave","device_ids":[…]}` to stop; the devices of `selector` are watched from the beginning. The service pushes changes, at most twice a second for each device: `{"type":"frame","device_id","captured_at","width","height"}`, followed by a binary message with the JPEG, which is 240 pixels wide; `{"type":"nothing","device_id","reason"}` while there is no picture; `{"type":"gone","device_id"}` if you may not, or no longer, see the device. Acknowledge pictures with `{"type":"shown","pictures":1}`: while 16 pictures are not acknowledged, further ones are skipped, and the newest is sent once there is room. Close codes: 4003 when the token has ended, 1008 after any other message.',
    scope: 'read',
    reach: { projects: 'open', phones: 'wall', apps: 'refused' },
    query: Type.Object({ selector: Type.Optional(Selector) }),
    responses: { 101: [] },
    errors: ['invalid_selector', 'upgrade_required', 'too_many_streams'],
  },
  input: {
    method: 'POST',
    path: '/api/v2/devices/:id/input',
    operationId: 'deviceInput',
    tag: 'Devices',
    summary: 'Tap, swipe, pinch, type, paste, press a key or start an app, by hand',
    description:
      'The reply is sent when the device has done the input. If an automation runs on the device, the input is done between its calls. Refused while another user holds the lease of the device; your own lease is extended by each input.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    audit: 'touch_device',
    params,
    query: Type.Object({
      lease_id: leaseId,
      tell_window: Type.Optional(
        Type.Enum(['true', 'false'] as const, {
          description:
            'Whether the reply to a tap or swipe says which window received the touch. Default `false`',
        }),
      ),
      settle: Type.Optional(
        Type.Enum(['true', 'false'] as const, {
          description:
            'Whether the reply is sent when the screen no longer changes, or after three seconds. Default `false`',
        }),
      ),
    }),
    body: PhoneInput,
    bodyExample: { type: 'tap', x: 540, y: 1200 },
    responses: {
      200: Type.Object({
        ...SuccessMessage.properties,
        touched_window: Type.Optional(
          Type.Union([TouchedWindow, Type.Null()], {
            description:
              'With `tell_window=true`: the window that received the touch; null if the device does not report it, and for other inputs',
          }),
        ),
      }),
    },
    errors: [
      ...(['device_not_found', 'device_leased', 'lease_lost', 'device_offline'] as const),
      ...(['app_not_allowed', 'host_request_failed'] as const),
    ],
  },
  clipboard: {
    method: 'GET',
    path: '/api/v2/devices/:id/clipboard',
    operationId: 'readDeviceClipboard',
    tag: 'Devices',
    summary: 'Read the clipboard of a device',
    description:
      'Empty if the clipboard holds no text. Refused while another user holds the lease of the device. `input` with `clipboard` writes the clipboard; it is cleared when a lease or a run begins or ends, and before another user reads it.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    params,
    query: Type.Object({ lease_id: leaseId }),
    responses: { 200: Type.Object({ success, ...PhoneClipboard.properties }) },
    errors: ['device_not_found', 'device_leased', 'lease_lost', 'device_offline', 'host_request_failed'],
  },
  sendFile: {
    method: 'POST',
    path: '/api/v2/devices/:id/files',
    operationId: 'sendFileToDevice',
    tag: 'Devices',
    summary:
      'Send a file to a device in parts: APKs are installed, other files are stored in the shared storage',
    description:
      'Send the parts in order, each after the reply to the previous one; at most 2,048 parts. After the last part, the device installs an APK or a bundle of APKs (`.apk`, `.apks`, `.xapk`, `.apkm`), if `PHALANX_ALLOW_APP_CHANGES=true` is set at its host; any other file is stored at `path`, and Android is asked to index it. The reply names the parts of a bundle that were not installed. While the reply is `working`, repeat the last part. Refused while another user holds the lease of the device; your own lease is extended by each part.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    audit: 'send_file',
    params,
    query: Type.Object({ lease_id: leaseId }),
    body: SentFilePart,
    bodyExample: {
      upload_id: '01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77',
      name: 'notes.txt',
      part: 0,
      is_last: true,
      base64: 'SGVsbG8K',
    },
    responses: { 200: Type.Object({ success, ...SentFile.properties }) },
    errors: ['device_not_found', 'device_leased', 'lease_lost', 'device_offline', 'host_request_failed'],
  },
  act: {
    method: 'POST',
    path: '/api/v2/devices/:id/act',
    operationId: 'deviceAct',
    tag: 'Devices',
    summary: 'Do up to ten steps by hand, on the numbered lines of a compact screen',
    description:
      'Before each touch, the node is searched again by its properties and its neighbors, and touched at its current place; a node that is gone, or that cannot be distinguished from others, is refused. Stops at the first step that fails. The reply is sent when the screen has come to rest, with the changes since `screen_id`. Refused while another user holds the lease of the device, and while an automation runs on it.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    audit: 'act_on_device',
    params,
    body: Type.Object({
      screen_id: Type.Optional(ScreenId),
      steps: Type.Array(ActStep, { minItems: 1, maxItems: maxActSteps }),
      lease_id: leaseId,
      project_id: Type.Optional(
        Type.String({
          maxLength: 200,
          description:
            'ID of the project whose secrets the steps type; you need the right to edit it, and the scope `edit`',
        }),
      ),
      timeout_ms: Type.Optional(
        Type.Integer({
          minimum: 1000,
          maximum: 55_000,
          description: 'Timeout for all steps together, in milliseconds. Default 30000',
        }),
      ),
    }),
    bodyExample: {
      steps: [
        { type: 'tap', on: 'Settings' },
        { type: 'wait_for', on: { hasText: 'Display' } },
      ],
    },
    responses: { 200: Type.Object({ success, ...ActOutcome.properties }) },
    errors: [
      ...(['device_not_found', 'device_leased', 'lease_lost', 'device_in_use', 'device_offline'] as const),
      ...(['screen_expired', 'app_not_allowed'] as const),
      ...(['project_not_found', 'secret_not_found', 'secrets_unavailable', 'secrets_withheld'] as const),
      'host_request_failed',
      ...(['too_many_waiting', 'too_busy'] as const),
    ],
  },
  lease: {
    method: 'POST',
    path: '/api/v2/devices/:id/lease',
    operationId: 'leaseDevice',
    tag: 'Devices',
    summary: 'Acquire a lease of the device, or extend it',
    description:
      'Until the lease expires or is released, no other user can send input to the device or launch on it. Runs on the device go on. A repeated request and each input restart the duration.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    audit: 'lease_device',
    params,
    body: Type.Object({
      duration_ms: Type.Optional(
        Type.Integer({
          minimum: 5000,
          maximum: 3_600_000,
          description: 'Duration of the lease, in milliseconds. Default 60000',
        }),
      ),
      lease_id: leaseId,
      exclusive: Type.Optional(
        Type.Boolean({
          description:
            'Whether only requests with this `lease_id` may touch the device until the lease ends; even your other programs are refused. Default false',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        success,
        lease: Type.Object(
          {
            ...DeviceLease.properties,
            lease_id: Type.String({
              description: 'ID of the lease, for `input` and `act`, and to extend or end the lease',
            }),
          },
          { title: 'TakenLease' },
        ),
      }),
    },
    errors: ['device_not_found', 'device_leased', 'lease_lost'],
  },
  leaseCode: {
    method: 'GET',
    path: '/api/v2/devices/:id/lease/code',
    operationId: 'readLeaseCode',
    tag: 'Devices',
    summary: 'Read the steps that `act` did during your lease, as code of an automation',
    description: 'The code of the last 300 acts is kept until the lease ends.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    params,
    query: Type.Object({ lease_id: leaseId }),
    responses: { 200: Type.Object({ success, code: Type.Array(Type.String()) }) },
    errors: ['device_not_found', 'device_leased', 'lease_lost'],
  },
  endLease: {
    method: 'DELETE',
    path: '/api/v2/devices/:id/lease',
    operationId: 'endDeviceLease',
    tag: 'Devices',
    summary: 'Release a lease; the owner of the device can end the lease of any user',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    audit: 'end_lease',
    params,
    query: Type.Object({ lease_id: leaseId }),
    responses: { 200: SuccessMessage },
    errors: ['device_not_found', 'device_leased', 'lease_lost'],
  },
} as const satisfies Record<string, RouteContract>;
