import { Type, type Static } from 'typebox';
import { Selector } from '../../phones/device-selector.ts';
import { phoneSettings } from '../../phones/phone-settings.ts';
import { Id, Uuid } from '../../ids.ts';
import { ErrorBody, jsonObject, success, type RouteContract, nullable } from '../contract.ts';
import { film } from './film.ts';

const command = Type.Union([Type.Literal('start'), Type.Literal('stop')]);
const inputs = {
  automationParameters: Type.Optional(jsonObject({ examples: [{ greeting: 'Hello' }] })),
  jobVariables: Type.Optional(jsonObject({ examples: [{ job: 'nightly' }] })),
  film,
  phone_settings: phoneSettings,
};

/** Result of a launch or a stop on one device. */
export const DeviceOutcome = Type.Object(
  {
    device_id: Type.String(),
    outcome: Type.Enum(['started', 'stopped', 'nothing_to_stop', 'refused', 'not_acknowledged'] as const, {
      description: 'Result on this device. `not_acknowledged`: the device did not confirm in time',
    }),
    code: nullable(Type.String({ description: 'Error code for programs; null on success' })),
    reason: nullable(Type.String({ description: 'Explanation for people; null on success' })),
    run_id: nullable(
      Type.String({
        description: 'ID of the run that was started or stopped; if there are several, of the newest',
      }),
    ),
  },
  { title: 'DeviceOutcome' },
);
export type DeviceOutcome = Static<typeof DeviceOutcome>;

const devices = Type.Array(DeviceOutcome, { description: 'Results, one for each device' });
const reply = Type.Object({ success, message: Type.String(), devices });
/** Error body of a refusal. `devices` is absent when the request body named no devices. */
const refusal = Type.Object(
  { ...ErrorBody.properties, devices: Type.Optional(devices) },
  { title: 'LaunchError' },
);

export const LaunchDirectBody = Type.Object({
  device_id: Id,
  launch_id: Uuid,
  command,
  code: Type.String({
    description: 'JavaScript or TypeScript code to run',
    examples: ['console.log(agent.arguments.automationParameters);'],
  }),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Name of the run in lists, such as a file name. Default: none',
      examples: ['checkout.ts'],
    }),
  ),
  ...inputs,
});

export const LaunchBody = Type.Object({
  device_ids: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: 10_000,
      description: 'IDs of the devices; required without `selector`. Duplicates are ignored',
    }),
  ),
  selector: Type.Optional(Selector),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description:
        'With `selector`: number of free devices to launch on. Default: all free devices that match',
    }),
  ),
  automationId: Id,
  command,
  launch_id: Type.Optional(Uuid),
  ...inputs,
});

/** Start and stop of automations on devices. */
export const launchRoutes = {
  launch: {
    method: 'POST',
    path: '/api/v2/devices/launchAutomation',
    operationId: 'launchAutomation',
    tag: 'Launches',
    summary: 'Run a saved project on devices, or stop it there',
    description:
      'Name the devices with `device_ids`, or select them with `selector`, which uses only free devices: ready, without a run, and not controlled by hand. All devices are checked before anything is started. A start runs the saved files as they are at that moment, committed or not; the reply is sent when every device has the code and has started it. `launch_id` is the idempotency key of a start: repeating the request returns the same reply and never starts a second run.',
    scope: 'launch',
    reach: { projects: 'within', phones: 'launch', budget: 'within' },
    audit: 'launch',
    body: LaunchBody,
    bodyExample: {
      device_ids: ['01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77'],
      automationId: '01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77',
      command: 'start',
    },
    responses: { 200: reply },
    errorBodies: { 400: refusal },
    errors: [
      'project_not_found',
      'invalid_selector',
      'too_few_devices',
      'devices_unavailable',
      'already_running',
      'compile_failed',
      'compiler_unavailable',
      'invalid_parameters',
      'invalid_parameter_schema',
      'invalid_masks',
      'secrets_unavailable',
      'secrets_withheld',
      'invalid_tsconfig',
      'launch_id_conflict',
      'launch_not_acknowledged',
      'stop_not_confirmed',
      'too_many_runs',
      'too_many_device_runs',
      'work_bytes_exceeded',
      'budget_spent',
      'too_many_waiting',
      'too_busy',
    ],
  },
  launchDirect: {
    method: 'POST',
    path: '/api/v2/devices/launchDirectAutomation',
    operationId: 'launchDirectAutomation',
    tag: 'Launches',
    summary: 'Run code on one device, or stop it',
    description:
      'The reply to a start is sent when the device has the code and has started it. `launch_id` is also the idempotency key: repeating the request never starts a second run. The reply to a stop is sent when the run has ended; stopping something that does not run is a success.',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'direct', budget: 'within' },
    audit: 'launch',
    body: LaunchDirectBody,
    // Parsing a larger body would block others for too long.
    bodyLimitBytes: 5 * 1024 * 1024,
    responses: { 200: reply },
    errorBodies: { 400: refusal },
    errors: [
      'devices_unavailable',
      'compile_failed',
      'compiler_unavailable',
      'launch_id_conflict',
      'launch_not_acknowledged',
      'stop_not_confirmed',
      'too_many_runs',
      'too_many_device_runs',
      'work_bytes_exceeded',
      'budget_spent',
      'too_many_waiting',
      'too_busy',
    ],
  },
  stopAll: {
    method: 'POST',
    path: '/api/v2/devices/stopAllAutomations',
    operationId: 'stopAllAutomations',
    tag: 'Launches',
    summary: 'Stop every automation that runs on a device',
    scope: 'launch',
    reach: { projects: 'refused', phones: 'direct' },
    audit: 'stop',
    body: Type.Object({ device_id: Id }),
    responses: { 200: reply },
    errorBodies: { 400: refusal },
    errors: ['devices_unavailable', 'stop_not_confirmed'],
  },
  stopRun: {
    method: 'POST',
    path: '/api/v2/runs/:id/stop',
    operationId: 'stopRun',
    tag: 'Runs',
    summary: 'Stop one run',
    description:
      'The reply is sent when the run has ended; stopping a run that has already ended is a success.',
    scope: 'launch',
    reach: { projects: 'within', phones: 'run' },
    audit: 'stop',
    params: Type.Object({ id: Id }),
    responses: { 200: reply },
    errorBodies: { 400: refusal },
    errors: ['run_not_found', 'devices_unavailable', 'stop_not_confirmed'],
  },
} as const satisfies Record<string, RouteContract>;
