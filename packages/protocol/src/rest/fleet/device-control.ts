import { Type, type Static } from 'typebox';
import { ActRefusal, ActStep, maxActSteps, PhoneInput } from '../../phones/act.ts';
import { Id } from '../../ids.ts';
import { Selector } from '../../phones/device-selector.ts';
import { TouchedWindow } from '../../phones/touch.ts';
import { PhoneClipboard, SentFile, SentFilePart } from '../../phones/sent-file.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';
import { CompactScreenView, DeviceLease, ScreenId } from './devices.ts';

const params = Type.Object({ id: Id });
const leaseId = Type.Optional(
  Type.String({
    maxLength: 100,
    description: 'The lease that you have: refused with `lease_lost` when it does not hold any more',
  }),
);

/** Results of the steps of an `act`. */
export const ActOutcome = Type.Object(
  {
    done: Type.Boolean({ description: 'Whether all steps were done' }),
    steps: Type.Array(
      Type.Object(
        {
          type: Type.String(),
          state: Type.Enum(['done', 'failed', 'skipped'] as const),
          refusal: Type.Optional(ActRefusal),
          message: Type.Optional(Type.String()),
          candidates: Type.Optional(
            Type.Array(Type.String(), { description: 'Lines of `screen` that may be meant' }),
          ),
        },
        { title: 'ActStepOutcome' },
      ),
    ),
    screen: CompactScreenView,
    settled: Type.Boolean({ description: 'False: the screen moves all the time' }),
    captures: Type.Integer({ minimum: 0, description: 'How often the phone was read' }),
    code: Type.Array(Type.String(), {
      description: 'What was done as code of an automation, which waits for what it saw',
      examples: [["await (await agent.actions.waitForText('Settings')).tap();"]],
    }),
  },
  { title: 'ActOutcome' },
);
export type ActOutcome = Static<typeof ActOutcome>;

/** Phones by hand: seen live, touched, and held so that nobody else touches them. */
export const deviceControlRoutes = {
  live: {
    method: 'GET',
    path: '/api/v2/devices/:id/live',
    operationId: 'deviceLive',
    tag: 'Devices',
    summary: 'Watch the screen live (WebSocket)',
    description:
      'Send `{"type":"next"}` for each picture. The answer is `{"type":"frame","captured_at","width","height"}`, followed by a binary message with the JPEG; or, after a second without a change, `{"type":"still","captured_at"}`; or `{"type":"nothing","reason"}` while there is no picture. `width` and `height` are those of the screen, in whose pixels `input` counts; the picture is at most 540 pixels wide. All who watch a phone share one stream of at most ten pictures a second; nothing is taken while nobody asks. With `?video=h264` the answers may be `{"type":"video","captured_at","width","height","codec","packets":[{"is_key","size_bytes"}]}` instead, followed by a binary message with those packets of H.264 (Annex B) one after the other: the first one that you get is a key frame, as is the first after packets that you were too slow for. `next` may then be sent up to 30 times ahead, and one `next` is used up by each answer. Where there is no video now, for example because a mask is active on the phone, you get pictures, and `no_video` in their messages says why. Close codes: 4003 when the token has ended, 4004 when the device is no longer yours to see.',
    scope: 'read',
    reach: { projects: 'open', phones: 'path', apps: 'refused' },
    params,
    query: Type.Object({
      video: Type.Optional(
        Type.Enum(['h264'] as const, { description: 'The video that you can show; default: pictures alone' }),
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
    summary: 'Watch many screens live, small, on one connection (WebSocket)',
    description:
      'Say `{"type":"watch","device_ids":[…]}` of the phones that can be seen, at most 20 at once and 200 altogether, and `{"type":"leave","device_ids":[…]}` of those that cannot any more; the phones of `selector` are watched from the beginning. What changes comes unasked, at most twice a second for each phone: `{"type":"frame","device_id","captured_at","width","height"}`, followed by a binary message with the JPEG, which is 240 pixels wide; `{"type":"nothing","device_id","reason"}` while there is no picture; `{"type":"gone","device_id"}` when the phone is not yours to see, or no longer. Answer the pictures with `{"type":"shown","pictures":1}`: beyond 16 that are not answered, pictures are left out, and the newest comes when there is room again. Close codes: 4003 when the token has ended, 1008 after anything else that is said.',
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
      'Answered when the phone has done it. It comes between the calls of an automation that runs there. Refused while somebody else holds the lease; your own lease begins anew with it.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    audit: 'touch_device',
    params,
    query: Type.Object({
      lease_id: leaseId,
      tell_window: Type.Optional(
        Type.Enum(['true', 'false'] as const, {
          description: 'Whether the reply of a tap or swipe says which window got the touch; default `false`',
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
            description: 'With `tell_window=true`; null where the phone does not tell, and for other inputs',
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
    summary: 'Read the clipboard of the phone',
    description:
      'Empty when there is no text on it. Refused while somebody else holds the lease. `input` with `clipboard` writes it; the text is gone when a lease or a run begins or ends, and before another user reads it.',
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
      'Send a file to the phone in parts: an APK is installed, another file is stored where apps see it',
    description:
      'Parts come in their order, each after the answer to the one before; at most 2,048. After the last one the phone installs an APK, or a bundle of APKs (`.apk`, `.apks`, `.xapk`, `.apkm`), which needs `PHALANX_ALLOW_APP_CHANGES=true` at its host; another file is then at `path`, and Android was asked to index it. What of a bundle is not on the phone is named. While the answer is `working`, ask again with the last part. Refused while somebody else holds the lease; your own lease begins anew with each part.',
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
    summary: 'Do up to ten steps by hand, on what a compact screen has numbered',
    description:
      'Before each touch the phone looks for the node again, by what it is and what stands beside it: the same one is touched where it is now; one that cannot be told from others, or is gone, is refused. Stops at the first step that fails, and answers when the screen has come to rest, with what has changed since `screen_id`. Refused while somebody else holds the lease, and while an automation runs on the phone.',
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
          description: 'Whose secrets the steps type; you have to be able to edit it, with the scope `edit`',
        }),
      ),
      timeout_ms: Type.Optional(
        Type.Integer({ minimum: 1000, maximum: 55_000, description: 'Of all steps; default 30000' }),
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
        Type.Integer({ minimum: 5000, maximum: 3_600_000, description: 'Default 60000' }),
      ),
      lease_id: leaseId,
      exclusive: Type.Optional(
        Type.Boolean({
          description:
            'For this program alone: until the lease ends, not even your other programs touch the device without its `lease_id`',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        success,
        lease: Type.Object(
          {
            ...DeviceLease.properties,
            lease_id: Type.String({ description: 'For `input`, `act`, and to extend or end the lease' }),
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
    summary: 'Read what `act` did during your lease, as code of an automation',
    description: 'Kept until the lease ends, of the last 300 acts.',
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
    summary: 'Give the phone back; its owner ends anybody’s lease',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'path' },
    audit: 'end_lease',
    params,
    query: Type.Object({ lease_id: leaseId }),
    responses: { 200: SuccessMessage },
    errors: ['device_not_found', 'device_leased', 'lease_lost'],
  },
} as const satisfies Record<string, RouteContract>;
