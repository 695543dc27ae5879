import { Type, type Static, type TProperties } from 'typebox';
import { ReportedDeviceState } from './phones/phone-health.ts';
import { EpochMs } from './ids.ts';
import { RecordType } from './runs/records.ts';
import { RunError, RunOutcome, RunStatus } from './runs/runs.ts';

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const orNull = <T extends typeof text | typeof EpochMs>(schema: T) => Type.Union([schema, Type.Null()]);

const eventOf = <Name extends string, Data extends TProperties>(name: Name, summary: string, data: Data) =>
  Object.assign(
    Type.Object({
      type: Type.Literal(name),
      timestamp: Type.String({ description: 'When it happened, ISO 8601' }),
      data: Type.Object(data),
    }),
    { description: summary },
  );

const group = {
  group_id: text,
  automation_id: text,
  automation_name: text,
  record_id: text,
};
const phone = { device_id: text, serial: text, model: text, host_id: text, host_name: text };
const host = { host_id: text, host_name: text };

/** Events of webhooks, with the body of each message. The body contains IDs and states; the API provides the rest. */
export const webhookEvents = {
  'run.ended': eventOf(
    'run.ended',
    'A run has ended. A run that was lost may end again, when its host returns.',
    {
      run_id: text,
      automation_id: text,
      launch: text,
      launch_id: orNull(text),
      name: orNull(text),
      device_id: text,
      status: RunStatus,
      outcome: Type.Union([RunOutcome, Type.Null()]),
      error: Type.Union([Type.Object({ code: RunError.properties.code, message: text }), Type.Null()]),
      created_at: EpochMs,
      started_at: orNull(EpochMs),
      ended_at: orNull(EpochMs),
    },
  ),
  'device.not_ready': eventOf(
    'device.not_ready',
    'A device has not been ready for the `not_ready_minutes` of the webhook.',
    { ...phone, state: ReportedDeviceState, reason: text, since: EpochMs },
  ),
  'device.back': eventOf('device.back', 'A device that was reported by `device.not_ready` is ready again.', {
    ...phone,
    not_ready_since: EpochMs,
  }),
  'record.new': eventOf('record.new', 'A new out-of-steps record was stored.', {
    record_id: text,
    automation_id: text,
    automation_name: text,
    run_id: text,
    device_id: text,
    type: RecordType,
    tag: text,
  }),
  'group.opened': eventOf(
    'group.opened',
    'A record shows a screen or an error that no group has, so a new group was created.',
    group,
  ),
  'group.reopened': eventOf('group.reopened', 'A record has reopened a solved group.', {
    ...group,
    assignee_id: orNull(text),
    solved_in: orNull(text),
  }),
  'drift.found': eventOf(
    'drift.found',
    'The runs of a project are worse with a version of an app than with the previous version. Sent once for each version.',
    {
      automation_id: text,
      automation_name: text,
      package: text,
      version: text,
      version_before: orNull(text),
      reason: Type.Enum(['failing', 'reopened'] as const),
      runs: count,
      bad_runs: count,
      runs_before: count,
      bad_runs_before: count,
      group_id: orNull(text),
    },
  ),
  'replay.finished': eventOf(
    'replay.finished',
    'The replay of a commit, or a replay that a user requested, is done or has failed. Not sent for replays of saves and drafts.',
    {
      replay_id: text,
      automation_id: text,
      automation_name: text,
      commit: orNull(text),
      cause: Type.Enum(['request', 'commit'] as const),
      status: Type.Enum(['done', 'failed'] as const),
      problem: text,
      screens: count,
      known: count,
      recognised: count,
      broken: count,
      not_told: count,
    },
  ),
  'schedule.skipped': eventOf('schedule.skipped', 'A turn of a schedule created no job.', {
    schedule_id: text,
    schedule_name: text,
    automation_id: text,
    planned_at: EpochMs,
    reason: text,
  }),
  'host.gone': eventOf(
    'host.gone',
    'A host has been disconnected for so long that its runs count as lost (PHALANX_LOST_AFTER_SECONDS).',
    { ...host, since: EpochMs },
  ),
  'host.back': eventOf('host.back', 'A host that was reported by `host.gone` has connected again.', {
    ...host,
    gone_since: EpochMs,
  }),
  'runs.failing': eventOf(
    'runs.failing',
    'At least five of your runs of the last `failing_hours` have ended, at least `failing_percent` of them without success. Sent again only after the share was lower in between.',
    { hours: count, ended: count, failed: count },
  ),
  'runs.none': eventOf(
    'runs.none',
    'You have launched nothing for `silent_hours`. Sent again only after another launch.',
    { hours: count, last_run_id: orNull(text), last_at: orNull(EpochMs) },
  ),
  'webhook.test': eventOf('webhook.test', 'A user requested a test message.', { webhook_id: text }),
} as const;

export type WebhookEventName = keyof typeof webhookEvents;
export type WebhookEvent = {
  [Name in WebhookEventName]: Static<(typeof webhookEvents)[Name]>;
}[WebhookEventName];
export type WebhookData<Name extends WebhookEventName> = Static<(typeof webhookEvents)[Name]>['data'];

/** Names of the events that a webhook may subscribe to. */
export const webhookEventNames = [
  'run.ended',
  'device.not_ready',
  'device.back',
  'record.new',
  'group.opened',
  'group.reopened',
  'drift.found',
  'replay.finished',
  'schedule.skipped',
  'host.gone',
  'host.back',
  'runs.failing',
  'runs.none',
] as const satisfies readonly WebhookEventName[];
export type ChosenEvent = (typeof webhookEventNames)[number];

/** Failures of webhooks, as rows of the error table. */
export const webhookErrors = {
  invalid_webhook: { status: 400, message: 'The webhook cannot be used: {problem}.' },
  webhook_not_found: { status: 404, message: 'Webhook {webhook_id} was not found.' },
  delivery_not_found: { status: 404, message: 'The webhook has no delivery {delivery_id}.' },
  webhook_paused: { status: 409, message: 'Webhook {webhook_id} is paused: resume it first.' },
  too_many_webhooks: {
    status: 409,
    message: 'You already have {limit} webhooks, the maximum: delete one first.',
  },
  too_many_webhook_tests: {
    status: 429,
    message:
      'Tests and replays to one receiver are limited to ten at once, then one every five seconds. Send it again later.',
  },
  too_many_deliveries: {
    status: 429,
    message: 'You already have {limit} waiting deliveries, the maximum. Send it again when some have ended.',
  },
} as const satisfies Record<string, { status: number; message: string }>;
