import { errorText } from '@phalanx/settings';
import { type AddressRule, refuseLiteral } from '@phalanx/egress';
import {
  Webhook,
  type WebhookDelivery,
  webhookRoutes,
  JsonObject,
  type WebhookFormat,
  type WebhookHealth,
} from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { Compile } from 'typebox/compile';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import { keptTokenOf, limitsTextOf } from '../../http/requests/kept-token.ts';
import { seesEveryone } from '../../http/requests/policy.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRoute } from '../../http/requests/route.ts';
import { requireNameOrNone } from '../../http/requests/require-name.ts';
import { RateLimiter } from '../../kernel/limits/rate-limiter.ts';
import type { Sealing } from '../../code/secrets/sealing.ts';
import { dayMs } from '@phalanx/timing/durations';
import { type DeliveryStore, maxWaiting, type StoredDelivery } from './delivery-store.ts';
import type { MailConfig } from './mail/mail-settings.ts';
import { addressOf, isMail, mailUrlOf, readMailAddress } from './mail/mail-address.ts';
import { mailboxOf } from './mail/mailbox.ts';
import { createSigningKey } from './signing-keys.ts';
import { placeOf, type StoredWebhook, type WebhookOwner, type WebhookStore } from './store.ts';

interface WebhookRoutesOptions {
  store: WebhookStore;
  deliveries: DeliveryStore;
  sealing: Sealing;
  rule: AddressRule;
  /** Mail settings; undefined when no e-mail is sent. */
  mail: MailConfig | undefined;
  clock: Clock;
  nameOf: (userId: string) => string;
}

const maxWebhooks = 50;
/** Time for which the previous secret still signs. */
const earlierMs = dayMs;
const defaults = { minutes: 10, percent: 50, hours: 24 };

/**
 * `GET, POST /webhooks` · `GET, PATCH, DELETE /webhooks/:id` · `POST /webhooks/:id/secret` · `POST /webhooks/:id/test`
 * · `GET /webhooks/:id/deliveries` · `POST /webhooks/:id/deliveries/:deliveryId/replay`
 */
export function addWebhookRoutes(app: FastifyInstance, options: WebhookRoutesOptions): void {
  const { store, deliveries, sealing, rule, mail, clock, nameOf } = options;
  const testRates = {
    ofTarget: new RateLimiter({ perSecond: 0.2, burstSeconds: 50 }),
    ofUser: new RateLimiter({ perSecond: 1, burstSeconds: 60 }),
  };
  const readTarget = (text: string): string =>
    isMail(text) ? readMailTarget(text, mail) : readUrl(text, rule);

  const get = async (principal: Principal, id: string): Promise<StoredWebhook> => {
    const found = await store.find(id.toLowerCase(), ownerOf(principal));
    if (found === undefined) throw ApiError.of('webhook_not_found', { webhook_id: id });
    return found;
  };
  const getActive = async (principal: Principal, id: string): Promise<StoredWebhook> => {
    const found = await get(principal, id);
    if (found.paused === 1) throw ApiError.of('webhook_paused', { webhook_id: id });
    return found;
  };
  const viewAll = async (rows: readonly StoredWebhook[]): Promise<Webhook[]> => {
    const waiting = await store.countWaiting(rows.map(({ id }) => id));
    return rows.map((row) =>
      webhookView(row, { userName: nameOf(row.user_id), waiting: waiting.get(row.id) ?? 0 }),
    );
  };
  const view = async (principal: Principal, id: string): Promise<Webhook> => {
    const [webhook] = await viewAll([await get(principal, id)]);
    if (webhook === undefined) throw ApiError.of('webhook_not_found', { webhook_id: id });
    return webhook;
  };
  const spendTest = (principal: Principal, { url }: StoredWebhook): void => {
    const { userId } = principal;
    const waitMs =
      testRates.ofTarget.spend(`${userId} ${mailboxOf(url) ?? new URL(url).hostname}`) ||
      testRates.ofUser.spend(userId);
    if (waitMs > 0)
      throw ApiError.of('too_many_webhook_tests', {}, { retryAfterS: Math.ceil(waitMs / 1000) });
  };
  const viewWaiting = (delivery: StoredDelivery | undefined): WebhookDelivery => {
    if (delivery === undefined) throw ApiError.of('too_many_deliveries', { limit: maxWaiting });
    return deliveryView(delivery);
  };

  addRoute(app, webhookRoutes.create, async ({ principal, body, auditEvent }) => {
    const id = uuidv7();
    const { url, events, signature = 'v1', outcomes = [], project_ids = [], paused = false } = body;
    const { secret, publicKey } = createSigningKey(signature);
    const now = clock.now();
    const row: StoredWebhook = {
      id,
      user_id: principal.userId,
      token_projects: keptTokenOf(principal).token_projects,
      token_id: limitedTokenOf(principal),
      name: requireNameOrNone(body.name ?? ''),
      ...targetOf(readTarget(url), body.format ?? 'phalanx'),
      events: JSON.stringify([...new Set(events)]),
      outcomes: JSON.stringify(outcomes),
      project_ids: readIds(project_ids),
      not_ready_minutes: body.not_ready_minutes ?? defaults.minutes,
      failing_percent: body.failing_percent ?? defaults.percent,
      failing_hours: body.failing_hours ?? defaults.hours,
      silent_hours: body.silent_hours ?? defaults.hours,
      signature,
      sealed: await sealing.seal(secret, placeOf(id)),
      public_key: publicKey,
      earlier_sealed: null,
      earlier_until: null,
      paused: Number(paused),
      problem: '',
      heard_since: now,
      failing_since: null,
      last_success_at: null,
      last_failure_at: null,
      last_failure: '',
      created_at: now,
    };
    noteOn(auditEvent, row, { events, host: placeOfTarget(row.url) });
    if (!(await store.insert(row, maxWebhooks)))
      throw ApiError.of('too_many_webhooks', { limit: maxWebhooks });
    return {
      success: true,
      webhook: await view(principal, id),
      secret: shownSecret(row, secret),
    };
  });

  addRoute(app, webhookRoutes.list, async ({ principal, query }) => {
    const { items, next_cursor } = await readPage(
      query,
      (part) => store.list(ownerOf(principal), part),
      ({ id }) => id,
    );
    return { success: true, webhooks: await viewAll(items), next_cursor };
  });

  addRoute(app, webhookRoutes.get, async ({ principal, params }) => ({
    success: true,
    webhook: await view(principal, params.id),
  }));

  addRoute(app, webhookRoutes.change, async ({ principal, params, body, auditEvent }) => {
    const row = await get(principal, params.id);
    const { url, events, outcomes, project_ids, not_ready_minutes, paused } = body;
    const name = body.name === undefined ? row.name : requireNameOrNone(body.name);
    const isResumed = paused === false && row.paused === 1;
    noteOn(auditEvent, { ...row, name }, { fields: Object.keys(body) });
    const changes = {
      token_id: limitedTokenOf(principal),
      name,
      ...targetOf(
        url === undefined ? row.url : keepKind(row.url, readTarget(url)),
        body.format ?? row.format,
      ),
      events: events === undefined ? row.events : JSON.stringify([...new Set(events)]),
      outcomes: outcomes === undefined ? row.outcomes : JSON.stringify(outcomes),
      project_ids: project_ids === undefined ? row.project_ids : readIds(project_ids),
      not_ready_minutes: not_ready_minutes ?? row.not_ready_minutes,
      failing_percent: body.failing_percent ?? row.failing_percent,
      failing_hours: body.failing_hours ?? row.failing_hours,
      silent_hours: body.silent_hours ?? row.silent_hours,
      paused: paused === undefined ? row.paused : Number(paused),
      // The user has seen the problem.
      ...(paused === undefined ? {} : { problem: '' }),
      ...(isResumed ? { heard_since: clock.now(), failing_since: null } : {}),
    };
    await store.update(row, changes, { now: clock.now(), isFresh: isResumed });
    return { success: true, webhook: await view(principal, row.id) };
  });

  addRoute(app, webhookRoutes.delete, async ({ principal, params, auditEvent }) => {
    const row = await get(principal, params.id);
    noteOn(auditEvent, row);
    await store.delete(row.id);
    return { success: true, message: `Webhook ${row.id} was deleted.` };
  });

  addRoute(app, webhookRoutes.rotate, async ({ principal, params, auditEvent }) => {
    const row = await get(principal, params.id);
    if (isMail(row.url)) throw invalid('e-mails are not signed, so it has no secret');
    noteOn(auditEvent, row);
    const { secret, publicKey } = createSigningKey(row.signature);
    const now = clock.now();
    const changes = {
      sealed: await sealing.seal(secret, placeOf(row.id)),
      public_key: publicKey,
      earlier_sealed: row.sealed,
      earlier_until: now + earlierMs,
    };
    await store.update(row, changes, { now });
    return {
      success: true,
      webhook: await view(principal, row.id),
      secret: shownSecret(row, secret),
    };
  });

  addRoute(app, webhookRoutes.test, async ({ principal, params, auditEvent }) => {
    const row = await getActive(principal, params.id);
    spendTest(principal, row);
    noteOn(auditEvent, row);
    const at = clock.now();
    const delivery = await deliveries.insert(
      row,
      {
        type: 'webhook.test' as const,
        at,
        data: JSON.stringify({ webhook_id: row.id }),
        audience: JSON.stringify({ kind: 'user', userId: row.user_id }),
      },
      at,
    );
    return { success: true, delivery: viewWaiting(delivery) };
  });

  addRoute(app, webhookRoutes.listDeliveries, async ({ principal, params, query }) => {
    const { id } = await get(principal, params.id);
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor, limit }) => deliveries.list(id, cursor, limit),
      (row) => row.id,
    );
    return { success: true, deliveries: items.map(deliveryView), next_cursor };
  });

  addRoute(app, webhookRoutes.replay, async ({ principal, params, auditEvent }) => {
    const row = await getActive(principal, params.id);
    const delivery = await deliveries.find(row.id, params.deliveryId.toLowerCase());
    if (delivery === undefined) throw ApiError.of('delivery_not_found', { delivery_id: params.deliveryId });
    spendTest(principal, row);
    noteOn(auditEvent, row, { delivery: delivery.id });
    return { success: true, delivery: viewWaiting(await deliveries.replay(delivery, clock.now())) };
  });
}

/** Returns the ID of a token with limits, or null for a token without limits, which identifies only its user. */
const limitedTokenOf = (principal: Principal): string | null =>
  limitsTextOf(keptTokenOf(principal)) === null ? null : principal.tokenId;

/**
 * Returns the owner of the webhooks that the caller sees. A token for some projects sees only webhooks that were made
 * with a token for the same projects.
 */
const ownerOf = (principal: Principal): WebhookOwner => ({
  userId: seesEveryone(principal) ? null : principal.userId,
  tokenProjects: keptTokenOf(principal).token_projects,
});

function targetOf(url: string, format: WebhookFormat) {
  if (isMail(url) && format !== 'phalanx')
    throw invalid(`e-mails have no format ${format}: leave it out, or give the address of a chat`);
  return { url, format, mailbox: mailboxOf(url) };
}

const readIds = (ids: readonly string[]): string => JSON.stringify(ids.map((id) => id.toLowerCase()));

const invalid = (problem: string): ApiError => ApiError.of('invalid_webhook', { problem });

const shownSecret = ({ signature, url }: StoredWebhook, secret: string): string | null =>
  signature === 'v1' && !isMail(url) ? secret : null;

/**
 * Refuses a change between e-mail and web address: a web address may have a secret that its user knows, an e-mail has
 * none.
 */
function keepKind(before: string, url: string): string {
  if (isMail(before) === isMail(url)) return url;
  throw invalid('its url cannot change between an e-mail address and a web address: create another webhook');
}

function readMailTarget(text: string, mail: MailConfig | undefined): string {
  if (mail === undefined)
    throw invalid('this service sends no e-mail: its operator can set PHALANX_SMTP_URL');
  const address = readMailAddress(addressOf(text));
  if (address === undefined)
    throw invalid('its url must be mailto: and one e-mail address, such as mailto:ada@example.com');
  if (mail.mayReceive(address)) return mailUrlOf(address);
  throw invalid(
    `${address} may not receive e-mails: the operator of the service can allow it with the setting PHALANX_MAIL_TO`,
  );
}

function readUrl(text: string, rule: AddressRule): string {
  const url = URL.parse(text);
  const problem = findProblem(url, rule);
  if (url === null || problem !== undefined) throw invalid(problem ?? 'its url is not a valid URL');
  url.hash = '';
  return url.href;
}

/** Finds the problem of a URL. Host names are resolved only when a message is sent. */
function findProblem(url: URL | null, rule: AddressRule): string | undefined {
  if (url === null) return 'its url is not a valid URL';
  if (!/^https?:$/.test(url.protocol)) return 'its url must begin with https://, http:// or mailto:';
  if (url.username !== '' || url.password !== '')
    return 'its url has a user name or a password, which everybody who sees the webhook would see';
  try {
    refuseLiteral(url, rule);
  } catch (error) {
    return errorText(error);
  }
  return undefined;
}

/** Returns the part of a target that is shown. The path of a URL may be a secret of the receiver. */
const placeOfTarget = (url: string): string => (isMail(url) ? addressOf(url) : new URL(url).host);

const noteOn = (
  auditEvent: AuditEvent,
  { id, name, url, user_id: userId }: StoredWebhook,
  details: Record<string, unknown> = {},
): void => auditEvent.on({ type: 'webhook', id, name: name || placeOfTarget(url) }, [userId], details);

interface Beside {
  userName: string;
  waiting: number;
}

const { events, outcomes, project_ids } = Webhook.properties;
const validators = {
  events: Compile(events),
  outcomes: Compile(outcomes),
  projectIds: Compile(project_ids),
  data: Compile(JsonObject),
};

const webhookView = (row: StoredWebhook, { userName, waiting }: Beside): Webhook => ({
  id: row.id,
  user: { id: row.user_id, name: userName },
  name: row.name,
  url: row.url,
  format: row.format,
  events: validators.events.Parse(JSON.parse(row.events)),
  outcomes: validators.outcomes.Parse(JSON.parse(row.outcomes)),
  project_ids: validators.projectIds.Parse(JSON.parse(row.project_ids)),
  not_ready_minutes: row.not_ready_minutes,
  failing_percent: row.failing_percent,
  failing_hours: row.failing_hours,
  silent_hours: row.silent_hours,
  paused: row.paused === 1,
  signature: row.signature,
  public_key: isMail(row.url) ? null : row.public_key,
  problem: row.problem,
  health: {
    state: stateOf(row),
    waiting,
    failing_since: row.failing_since,
    last_success_at: row.last_success_at,
    last_failure_at: row.last_failure_at,
    last_failure: row.last_failure,
  },
  created_at: row.created_at,
});

function stateOf({ paused, problem, failing_since, last_success_at }: StoredWebhook): WebhookHealth['state'] {
  if (paused === 1) return problem === '' ? 'paused' : 'disabled';
  if (failing_since !== null) return 'failing';
  return last_success_at === null ? 'unused' : 'ok';
}

const deliveryView = (row: StoredDelivery): WebhookDelivery => ({
  id: row.id,
  status: row.status,
  attempts: row.attempts,
  response_status: row.response_status,
  problem: row.problem,
  created_at: row.created_at,
  next_attempt_at: row.status === 'waiting' ? row.due_at : null,
  ended_at: row.ended_at,
  payload: {
    type: row.type,
    timestamp: new Date(row.at).toISOString(),
    data: validators.data.Parse(JSON.parse(row.data)),
  },
});
