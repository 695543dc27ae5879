import type { WebhookEventName, WebhookFormat } from '@phalanx/protocol';
import type { Generated } from 'kysely';

import type { EpochMs, Flag, Json } from './column-types.ts';

export interface WebhookTable {
  /** UUIDv7. */
  id: string;
  user_id: string;
  /** Projects to which the token that created it is limited; null for all projects of its user. */
  token_projects: Json | null;
  /** Limited token that created the webhook or last changed it. The webhook ends with that token. Null when unknown. */
  token_id: string | null;
  name: string;
  url: string;
  /** See `mailboxOf`; null when the webhook sends no e-mail. */
  mailbox: string | null;
  /** Format of the messages; always `phalanx` for e-mails, where it has no meaning. */
  format: Generated<WebhookFormat>;
  /** JSON of the `ChosenEvent`s. */
  events: Json;
  /** JSON of the `RunOutcome`s; empty for all. */
  outcomes: Json;
  /** Empty for all. */
  project_ids: Json;
  not_ready_minutes: number;
  failing_percent: number;
  failing_hours: number;
  silent_hours: number;
  signature: 'v1' | 'v1a';
  /** The secret, or the private key; see `Sealing`. */
  sealed: string;
  public_key: string | null;
  /** Earlier secret or private key, sealed, and the time until which it still signs. */
  earlier_sealed: string | null;
  earlier_until: EpochMs | null;
  paused: Flag;
  /** Reason why the service paused the webhook; otherwise empty. */
  problem: Generated<string>;
  /** Time since which the webhook receives events. */
  heard_since: EpochMs;
  /** Time of the first failed attempt since the last delivery; null when none has failed since. */
  failing_since: EpochMs | null;
  last_success_at: EpochMs | null;
  last_failure_at: EpochMs | null;
  last_failure: Generated<string>;
  created_at: EpochMs;
}

export interface WebhookDeliveryTable {
  /** UUIDv7; the ID of the message. */
  id: string;
  webhook_id: string;
  /** Owner of the webhook. */
  user_id: string;
  type: WebhookEventName;
  at: EpochMs;
  data: Json;
  /** JSON of an `Audience`. */
  audience: Json;
  status: 'waiting' | 'delivered' | 'failed';
  attempts: Generated<number>;
  /** Time of the next attempt. */
  due_at: EpochMs;
  response_status: number | null;
  /** Reason why the last attempt failed; otherwise empty. */
  problem: Generated<string>;
  created_at: EpochMs;
  ended_at: EpochMs | null;
}

/** Phone that is not ready, host that is disconnected, or runs that are failing or missing, as known to a webhook. */
export interface WebhookAbsenceTable {
  webhook_id: string;
  kind: 'device' | 'host' | 'runs.failing' | 'runs.none';
  target_id: string;
  since: EpochMs;
  /** Whether it has lasted as long as the webhook requires. */
  is_told: Flag;
}

/** E-mails of a user to one mailbox. */
export interface MailUseTable {
  user_id: string;
  mailbox: string;
  /** Time when the next e-mail may be sent. */
  next_at: EpochMs;
  /** Days since 1970 in UTC, and the number of e-mails sent on that day. */
  day: number;
  sent: number;
}
