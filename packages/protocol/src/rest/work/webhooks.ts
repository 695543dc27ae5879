import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { RunOutcome } from '../../runs/runs.ts';
import { webhookEventNames, webhookEvents } from '../../webhook-events.ts';
import { WebhookFormat } from '../../webhook-formats.ts';
import { JsonObject, success, SuccessMessage, type RouteContract, nullable } from '../contract.ts';
import { idPageQuery, pageOf } from '../page.ts';

const settings = {
  name: Type.String({ maxLength: 200 }),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'Destination of the messages: an http or https URL with a public address and no user name, or `mailto:` and one e-mail address that the operator of the service allows',
    examples: ['https://receiver.example/phalanx', 'mailto:ada@example.com'],
  }),
  format: WebhookFormat,
  events: Type.Array(Type.Enum(webhookEventNames), {
    minItems: 1,
    maxItems: webhookEventNames.length,
    description: 'Events that the webhook sends',
    examples: [['run.ended']],
  }),
  outcomes: Type.Array(RunOutcome, {
    maxItems: 10,
    description: 'For `run.ended`: only runs with these outcomes. Empty: all outcomes',
    examples: [['failed', 'timed_out', 'lost']],
  }),
  project_ids: Type.Array(Id, {
    maxItems: 100,
    description:
      'For `run.ended`, `record.new`, `group.opened`, `group.reopened`, `drift.found`, `replay.finished`, `schedule.skipped`, `runs.failing` and `runs.none`: only these projects. Empty: all projects that you may see',
    examples: [[]],
  }),
  not_ready_minutes: Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description:
      'For `device.not_ready` and `device.back`: how long a device must not be ready, in minutes. Default 10',
    examples: [10],
  }),
  failing_percent: Type.Integer({
    minimum: 1,
    maximum: 100,
    description:
      'For `runs.failing`: share of runs without success, in percent, from which the event is sent. Default 50',
    examples: [50],
  }),
  failing_hours: Type.Integer({
    minimum: 1,
    maximum: 168,
    description: 'For `runs.failing`: length of the period whose runs are counted, in hours. Default 24',
    examples: [24],
  }),
  silent_hours: Type.Integer({
    minimum: 1,
    maximum: 720,
    description:
      'For `runs.none`: time without a launch, in hours, after which the event is sent. Default 24',
    examples: [24],
  }),
  paused: Type.Boolean({
    description:
      'Whether the webhook is paused: new events are not sent; deliveries that already wait are sent after it is resumed',
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
      description: '`disabled`: the service has paused the webhook; `problem` says why',
    }),
    waiting: Type.Integer({ description: 'Number of deliveries that wait to be sent' }),
    failing_since: nullable(EpochMs),
    last_success_at: nullable(EpochMs),
    last_failure_at: nullable(EpochMs),
    last_failure: Type.String({ description: 'Reason of the last failed delivery; empty if none failed' }),
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
      Type.String({
        description:
          'For `v1a`: the public key (`whpk_…`) with which receivers verify messages; null for `v1`',
      }),
    ),
    problem: Type.String({ description: 'Why the service paused the webhook; empty if it did not' }),
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
          'HTTP status of the response to the last attempt, or SMTP status for e-mail; null without a response',
      }),
    ),
    problem: Type.String({ description: 'Why the last attempt failed; empty if it did not' }),
    created_at: EpochMs,
    next_attempt_at: nullable(EpochMs),
    ended_at: nullable(EpochMs),
    payload: Type.Object({ type: Type.String(), timestamp: Type.String(), data: JsonObject }),
  },
  {
    title: 'WebhookDelivery',
    description: 'One delivery of a message. Its `id` is the `webhook-id` of all its attempts.',
  },
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
        'For `v1`: the shared secret (`whsec_…`) with which receivers verify messages; it is shown only here. Null for `v1a` and for e-mail',
    }),
  ),
});
const delivery = Type.Object({ success, delivery: WebhookDelivery });

const eventTexts = webhookEventNames
  .map((name) => `- \`${name}\`: ${webhookEvents[name].description}`)
  .join('\n');

/** Webhooks, which send messages about events to other services. */
export const webhookRoutes = {
  create: {
    method: 'POST',
    path: '/api/v2/webhooks',
    operationId: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Create a webhook, which sends messages about events to an address',
    description: `Messages follow Standard Webhooks (https://www.standardwebhooks.com), or are chat messages or e-mails. A webhook sends only events about what its owner may see.\n\n${eventTexts}`,
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
    summary: 'Rotate the secret or key pair of a webhook',
    description:
      'For 24 hours, messages carry two signatures: one with the new key and one with the previous key.',
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
    description: 'The reply does not wait for the delivery; read its result from the deliveries.',
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
    summary: 'Send a delivery again, with the same `webhook-id`',
    description: 'A delivery that still waits is attempted at once.',
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
