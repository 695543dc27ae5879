import { mailboxOf } from '../mail/mailbox.ts';
import type { StoredWebhook } from '../store.ts';

/** Creates the row of a webhook without events. */
export const webhookTo = (id: string, url: string, userId = 'mallory'): StoredWebhook => ({
  id,
  user_id: userId,
  token_projects: null,
  token_id: null,
  name: '',
  url,
  mailbox: mailboxOf(url),
  format: 'phalanx' as const,
  events: '[]',
  outcomes: '[]',
  project_ids: '[]',
  not_ready_minutes: 1,
  failing_percent: 1,
  failing_hours: 1,
  silent_hours: 1,
  signature: 'v1' as const,
  sealed: '',
  public_key: null,
  earlier_sealed: null,
  earlier_until: null,
  paused: 0,
  problem: '',
  heard_since: 0,
  failing_since: null,
  last_success_at: null,
  last_failure_at: null,
  last_failure: '',
  created_at: 0,
});
