import { Type, type Static } from 'typebox';

import { ActRefusal, ActStep, maxActSteps } from '../../phones/act.ts';
import { Id } from '../../ids.ts';
import { PhoneInput } from '../../phones/phone-input.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';
import { CompactScreenView, DeviceLease, ScreenId } from './devices.ts';

const params = Type.Object({ id: Id });
const leaseId = Type.Optional(
  Type.String({
    maxLength: 100,
    description: 'The lease that you have: refused with `lease_lost` when it does not hold any more',
  }),
);

/** What became of the steps of an `act`. */
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
    query: Type.Object({ lease_id: leaseId }),
    body: PhoneInput,
    bodyExample: { type: 'tap', x: 540, y: 1200 },
    responses: { 200: SuccessMessage },
    errors: [
      ...(['device_not_found', 'device_leased', 'lease_lost', 'device_offline'] as const),
      ...(['app_not_allowed', 'host_request_failed'] as const),
    ],
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
    audit: 'act_on_device',
    params,
    body: Type.Object({
      screen_id: Type.Optional(ScreenId),
      steps: Type.Array(ActStep, { minItems: 1, maxItems: maxActSteps }),
      lease_id: leaseId,
      project_id: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Whose secrets the steps type; you have to be able to edit it',
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
      ...(['project_not_found', 'secret_not_found', 'secrets_unavailable', 'host_request_failed'] as const),
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
    audit: 'end_lease',
    params,
    query: Type.Object({ lease_id: leaseId }),
    responses: { 200: SuccessMessage },
    errors: ['device_not_found', 'device_leased', 'lease_lost'],
  },
} as const satisfies Record<string, RouteContract>;
