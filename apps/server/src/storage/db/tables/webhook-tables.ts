import type { WebhookEventName, WebhookFormat } from '@phalanx/protocol';
import type { Generated } from 'kysely';

import type { EpochMs, Flag, Json } from './column-types.ts';

export interface WebhookTable {
  /** UUIDv7. */
  id: string;
  user_id: string;
  /** The only projects of the token that made it; null: all of its user. */
  token_projects: Json | null;
  /** The limited token with which it was made or changed last: it ends with that. Null: none is known. */
  token_id: string | null;
  name: string;
  url: string;
  /** See `mailboxOf`; null: it sends no e-mail. */
  mailbox: string | null;
  /** Format of the messages; for e-mails `phalanx`, which says nothing of them. */
  format: Generated<WebhookFormat>;
  /** JSON of the `ChosenEvent`s. */
  events: Json;
  /** JSON of the `RunOutcome`s; empty: all. */
  outcomes: Json;
  /** Empty: all. */
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
  /** Reason why the service paused it; else empty. */
  problem: Generated<string>;
  /** Time since which it hears of events. */
  heard_since: EpochMs;
  /** Time of the first failed attempt since the last delivery; null: none has failed since. */
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
  /** User whose webhook it is. */
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
  /** Reason why the last attempt failed; else empty. */
  problem: Generated<string>;
  created_at: EpochMs;
  ended_at: EpochMs | null;
}

/** A phone that is not ready, a host that is away, or runs that are not as they should be, as a webhook knows it. */
export interface WebhookAbsenceTable {
  webhook_id: string;
  kind: 'device' | 'host' | 'runs.failing' | 'runs.none';
  target_id: string;
  since: EpochMs;
  /** Whether it has lasted as long as the webhook waits. */
  is_told: Flag;
}

/** The e-mails of a user to one mailbox. */
export interface MailUseTable {
  user_id: string;
  mailbox: string;
  /** Time when the next e-mail may be sent. */
  next_at: EpochMs;
  /** Days since 1970, UTC, and how many were sent in it. */
  day: number;
  sent: number;
}
