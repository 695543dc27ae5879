import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../ids.ts';
import { RunOutcome } from '../runs/runs.ts';
import { webhookEventNames, webhookEvents } from '../webhook-events.ts';
import { WebhookFormat } from '../webhook-formats.ts';
import { JsonObject, success, SuccessMessage, type RouteContract, nullable } from './contract.ts';
import { idPageQuery, pageOf } from './page.ts';

const settings = {
  name: Type.String({ maxLength: 200 }),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'Where to: http or https, without a user name, where addresses that are not public are refused; or `mailto:` and one address that the operator of the service allows',
    examples: ['https://receiver.example/phalanx', 'mailto:ada@example.com'],
  }),
  format: WebhookFormat,
  events: Type.Array(Type.Enum(webhookEventNames), {
    minItems: 1,
    maxItems: webhookEventNames.length,
    description: 'What it tells of',
    examples: [['run.ended']],
  }),
  outcomes: Type.Array(RunOutcome, {
    maxItems: 10,
    description: 'Of `run.ended`: only runs with these outcomes. Empty: all',
    examples: [['failed', 'timed_out', 'lost']],
  }),
  project_ids: Type.Array(Id, {
    maxItems: 100,
    description:
      'Of `run.ended`, `record.new`, `group.opened`, `group.reopened`, `drift.found`, `replay.finished`, `schedule.skipped`, `runs.failing` and `runs.none`: only of these projects. Empty: all that you may see',
    examples: [[]],
  }),
  not_ready_minutes: Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description:
      'Of `device.not_ready` and `device.back`: only phones that were not ready for so long. Default 10',
    examples: [10],
  }),
  failing_percent: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: 'Of `runs.failing`: how many of the runs have no success. Default 50',
    examples: [50],
  }),
  failing_hours: Type.Integer({
    minimum: 1,
    maximum: 168,
    description: 'Of `runs.failing`: runs of so many last hours. Default 24',
    examples: [24],
  }),
  silent_hours: Type.Integer({
    minimum: 1,
    maximum: 720,
    description: 'Of `runs.none`: how long nothing was launched. Default 24',
    examples: [24],
  }),
  paused: Type.Boolean({
    description: 'It hears of nothing that happens meanwhile; what waits is sent when it is resumed',
  }),
};

const signature = Type.Enum(['v1', 'v1a'] as const, {
  description:
    'How messages are signed (Standard Webhooks): `v1` with a shared secret (HMAC-SHA256), `v1a` with a key pair (Ed25519). Default `v1`',
});

const optional = {
  name: Type.Optional(settings.name),
  format: Type.Optional(settings.format),
  outcomes: Type.Optional(settings.outcomes),
  project_ids: Type.Optional(settings.project_ids),
  not_ready_minutes: Type.Optional(settings.not_ready_minutes),
  failing_percent: Type.Optional(settings.failing_percent),
  failing_hours: Type.Optional(settings.failing_hours),
  silent_hours: Type.Optional(settings.silent_hours),
  paused: Type.Optional(settings.paused),
};

export const WebhookBody = Type.Object({
  url: settings.url,
  events: settings.events,
  signature: Type.Optional(signature),
  ...optional,
});
export type WebhookBody = Static<typeof WebhookBody>;

const WebhookChanges = Type.Object({
  url: Type.Optional(settings.url),
  events: Type.Optional(settings.events),
  ...optional,
});

export const WebhookHealth = Type.Object(
  {
    state: Type.Enum(['unused', 'ok', 'failing', 'paused', 'disabled'] as const, {
      description: '`disabled`: the service paused it, see `problem`',
    }),
    waiting: Type.Integer({ description: 'Deliveries that have still to be made' }),
    failing_since: nullable(EpochMs),
    last_success_at: nullable(EpochMs),
    last_failure_at: nullable(EpochMs),
    last_failure: Type.String({ description: 'Why the last delivery that failed did; else empty' }),
  },
  { title: 'WebhookHealth' },
);
export type WebhookHealth = Static<typeof WebhookHealth>;

export const Webhook = Type.Object(
  {
    id: Uuid,
    user: Type.Object({ id: Type.String(), name: Type.String() }),
    ...settings,
    signature,
    public_key: nullable(
      Type.String({ description: 'Of `v1a`: messages are checked with it (`whpk_…`); null for `v1`' }),
    ),
    problem: Type.String({ description: 'Why the service paused it; else empty' }),
    health: WebhookHealth,
    created_at: EpochMs,
  },
  { title: 'Webhook' },
);
export type Webhook = Static<typeof Webhook>;

export const WebhookDelivery = Type.Object(
  {
    id: Uuid,
    status: Type.Enum(['waiting', 'delivered', 'failed'] as const),
    attempts: Type.Integer(),
    response_status: nullable(
      Type.Integer({
        description:
          'Of the last attempt: the status of HTTP, or of SMTP for an e-mail. Null: there was no response',
      }),
    ),
    problem: Type.String({ description: 'Why the last attempt failed; else empty' }),
    created_at: EpochMs,
    next_attempt_at: nullable(EpochMs),
    ended_at: nullable(EpochMs),
    payload: Type.Object({ type: Type.String(), timestamp: Type.String(), data: JsonObject }),
  },
  { title: 'WebhookDelivery', description: 'Its `id` is the `webhook-id` of all its attempts.' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

const params = Type.Object({ id: Id });
const webhook = Type.Object({ success, webhook: Webhook });
const withSecret = Type.Object({
  success,
  webhook: Webhook,
  secret: nullable(
    Type.String({
      description:
        'Of `v1`, and shown only here: messages are checked with it (`whsec_…`). Null for `v1a` and for e-mails',
    }),
  ),
});
const delivery = Type.Object({ success, delivery: WebhookDelivery });

const eventTexts = webhookEventNames
  .map((name) => `- \`${name}\`: ${webhookEvents[name].description}`)
  .join('\n');

/** Messages to other services about what happens. */
export const webhookRoutes = {
  create: {
    method: 'POST',
    path: '/api/v2/webhooks',
    operationId: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Have messages sent to an address when something happens',
    description: `The messages are those of Standard Webhooks (https://www.standardwebhooks.com), messages to a chat, or e-mails. You hear only of what you may see.\n\n${eventTexts}`,
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'create_webhook',
    body: WebhookBody,
    bodyExample: {
      name: 'Failed nightly runs',
      url: 'https://receiver.example/phalanx',
      events: ['run.ended', 'device.not_ready'],
      outcomes: ['failed', 'timed_out', 'lost'],
    },
    responses: { 201: withSecret },
    errors: ['invalid_webhook', 'too_many_webhooks', 'secrets_unavailable'],
  },
  list: {
    method: 'GET',
    path: '/api/v2/webhooks',
    operationId: 'listWebhooks',
    tag: 'Webhooks',
    summary: 'List your webhooks, newest first; administrators list those of all users',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ webhooks: Type.Array(Webhook) }) },
  },
  get: {
    method: 'GET',
    path: '/api/v2/webhooks/:id',
    operationId: 'getWebhook',
    tag: 'Webhooks',
    summary: 'Read one webhook',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    responses: { 200: webhook },
    errors: ['webhook_not_found'],
  },
  change: {
    method: 'PATCH',
    path: '/api/v2/webhooks/:id',
    operationId: 'changeWebhook',
    tag: 'Webhooks',
    summary: 'Change, pause or resume a webhook',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'change_webhook',
    params,
    body: WebhookChanges,
    bodyExample: { paused: true },
    responses: { 200: webhook },
    errors: ['webhook_not_found', 'invalid_webhook'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/webhooks/:id',
    operationId: 'deleteWebhook',
    tag: 'Webhooks',
    summary: 'Delete a webhook with its deliveries',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'delete_webhook',
    params,
    responses: { 200: SuccessMessage },
    errors: ['webhook_not_found'],
  },
  rotate: {
    method: 'POST',
    path: '/api/v2/webhooks/:id/secret',
    operationId: 'rotateWebhookSecret',
    tag: 'Webhooks',
    summary: 'Give a webhook a new secret or key pair',
    description: 'For 24 hours messages carry two signatures: with the new one and with the one before.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'rotate_webhook_secret',
    params,
    responses: { 200: withSecret },
    errors: ['webhook_not_found', 'invalid_webhook', 'secrets_unavailable'],
  },
  test: {
    method: 'POST',
    path: '/api/v2/webhooks/:id/test',
    operationId: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Send a message of the type `webhook.test`',
    description: 'The reply does not wait for it: read the deliveries.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'test_webhook',
    params,
    responses: { 202: delivery },
    errors: ['webhook_not_found', 'webhook_paused', 'too_many_deliveries', 'too_many_webhook_tests'],
  },
  listDeliveries: {
    method: 'GET',
    path: '/api/v2/webhooks/:id/deliveries',
    operationId: 'listWebhookDeliveries',
    tag: 'Webhooks',
    summary: 'List the deliveries of a webhook, newest first',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ deliveries: Type.Array(WebhookDelivery) }) },
    errors: ['webhook_not_found'],
  },
  replay: {
    method: 'POST',
    path: '/api/v2/webhooks/:id/deliveries/:deliveryId/replay',
    operationId: 'replayWebhookDelivery',
    tag: 'Webhooks',
    summary: 'Make a delivery again, with the same `webhook-id`',
    description: 'One that still waits is attempted at once.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'replay_webhook_delivery',
    params: Type.Object({ id: Id, deliveryId: Id }),
    responses: { 202: delivery },
    errors: [
      'webhook_not_found',
      'delivery_not_found',
      'webhook_paused',
      'too_many_deliveries',
      'too_many_webhook_tests',
    ],
  },
} as const satisfies Record<string, RouteContract>;
