import { Type } from 'typebox';

import { Id, Uuid } from '../ids.ts';
import { JsonObject, SuccessMessage, type RouteContract } from './contract.ts';

const command = Type.Union([Type.Literal('start'), Type.Literal('stop')]);
const inputs = {
  automationParameters: Type.Optional(JsonObject),
  jobVariables: Type.Optional(JsonObject),
};

export const LaunchDirectBody = Type.Object({
  device_id: Id,
  launch_id: Uuid,
  command,
  code: Type.String({ description: 'JavaScript or TypeScript' }),
  ...inputs,
});

export const LaunchBody = Type.Object({
  device_ids: Type.Array(Id, { minItems: 1, maxItems: 10_000, description: 'Duplicates count once' }),
  automationId: Id,
  command,
  ...inputs,
});

/** Starting and stopping automations on devices. */
export const launchRoutes = {
  launch: {
    method: 'POST',
    path: '/api/v2/devices/launchAutomation',
    operationId: 'launchAutomation',
    tag: 'Launches',
    summary: 'Run a saved project on devices, or stop it there',
    description:
      'All devices are checked before anything starts. A start is answered when every device holds the code and has begun; it runs the saved files as they are at that moment, committed or not.',
    scope: 'launch',
    body: LaunchBody,
    responses: { 200: SuccessMessage },
    errors: [404],
  },
  launchDirect: {
    method: 'POST',
    path: '/api/v2/devices/launchDirectAutomation',
    operationId: 'launchDirectAutomation',
    tag: 'Launches',
    summary: 'Run code on one device, or stop it',
    description:
      'A start is answered when the device holds the code and has begun. `launch_id` is also the idempotency key: the same request again never starts a second run. A stop is answered when the run has ended; stopping what does not run is a success.',
    scope: 'launch',
    body: LaunchDirectBody,
    bodyLimitBytes: 16 * 1024 * 1024,
    responses: { 200: SuccessMessage },
  },
  stopAll: {
    method: 'POST',
    path: '/api/v2/devices/stopAllAutomations',
    operationId: 'stopAllAutomations',
    tag: 'Launches',
    summary: 'Stop every automation that runs on a device',
    scope: 'launch',
    body: Type.Object({ device_id: Id }),
    responses: { 200: SuccessMessage },
  },
} as const satisfies Record<string, RouteContract>;
