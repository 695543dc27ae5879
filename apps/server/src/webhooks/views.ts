import { JsonObject, Webhook, type WebhookDelivery, type WebhookHealth } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { StoredDelivery } from './delivery-store.ts';
import { isMail } from './mail/mail-address.ts';
import type { StoredWebhook } from './store.ts';

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

export const webhookView = (row: StoredWebhook, { userName, waiting }: Beside): Webhook => ({
  id: row.id,
  user: { id: row.user_id, name: userName },
  name: row.name,
  url: row.url,
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

export const deliveryView = (row: StoredDelivery): WebhookDelivery => ({
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
