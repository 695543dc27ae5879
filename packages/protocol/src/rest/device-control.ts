import { Type } from 'typebox';

import { Id } from '../ids.ts';
import { PhoneInput } from '../phone-input.ts';
import { success, SuccessMessage, type RouteContract } from './contract.ts';
import { DeviceLease } from './devices.ts';

const params = Type.Object({ id: Id });

/** Phones by hand: seen live, touched, and held so that nobody else touches them. */
export const deviceControlRoutes = {
  live: {
    method: 'GET',
    path: '/api/v2/devices/:id/live',
    operationId: 'deviceLive',
    tag: 'Devices',
    summary: 'Watch the screen live (WebSocket)',
    description:
      'Send `{"type":"next"}` for each picture. The answer is `{"type":"frame","captured_at","width","height"}`, followed by a binary message with the JPEG; or, after a second without a change, `{"type":"still","captured_at"}`; or `{"type":"nothing","reason"}` while there is no picture. `width` and `height` are those of the screen, in whose pixels `input` counts; the picture is at most 540 pixels wide. All who watch a phone share one stream of at most ten pictures a second; nothing is taken while nobody asks. Close codes: 4003 when the token has ended, 4004 when the device is no longer yours to see.',
    scope: 'read',
    params,
    responses: { 101: [] },
    errors: ['device_not_found', 'upgrade_required', 'too_many_streams'],
  },
  input: {
    method: 'POST',
    path: '/api/v2/devices/:id/input',
    operationId: 'deviceInput',
    tag: 'Devices',
    summary: 'Tap, swipe, type, press a key or start an app, by hand',
    description:
      'Answered when the phone has done it. It comes between the calls of an automation that runs there. Refused while somebody else holds the lease; your own lease begins anew with it.',
    scope: 'launch',
    audit: 'touch_device',
    params,
    body: PhoneInput,
    bodyExample: { type: 'tap', x: 540, y: 1200 },
    responses: { 200: SuccessMessage },
    errors: ['device_not_found', 'device_leased', 'device_offline', 'host_request_failed'],
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
    audit: 'lease_device',
    params,
    body: Type.Object({
      duration_ms: Type.Optional(
        Type.Integer({ minimum: 5000, maximum: 3_600_000, description: 'Default 60000' }),
      ),
    }),
    responses: { 200: Type.Object({ success, lease: DeviceLease }) },
    errors: ['device_not_found', 'device_leased'],
  },
  endLease: {
    method: 'DELETE',
    path: '/api/v2/devices/:id/lease',
    operationId: 'endDeviceLease',
    tag: 'Devices',
    summary: 'Give the phone back; its owner ends anybody’s lease',
    scope: 'launch',
    audit: 'end_lease',
    params,
    responses: { 200: SuccessMessage },
    errors: ['device_not_found', 'device_leased'],
  },
} as const satisfies Record<string, RouteContract>;
