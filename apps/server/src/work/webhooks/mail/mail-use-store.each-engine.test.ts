import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../../http/access/store.ts';
import type { Db } from '../../../storage/db/database.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { createDeliveryStore, type StoredDelivery } from '../delivery-store.ts';
import { createWebhookStore, type StoredWebhook } from '../store.ts';
import { mailboxOf } from './mailbox.ts';
import { dayMs, minuteMs } from '../../../kernel/durations.ts';

const claimMs = 30_000;

const webhookTo = (id: string, url: string, userId = 'mallory'): StoredWebhook => ({
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

it('all spellings of an address lead to one mailbox', () => {
  for (const url of ['mailto:Ada@Example.com', 'mailto:ada+1@example.com', 'mailto:ADA+b+c@example.COM'])
    expect(mailboxOf(url)).toBe('ada@example.com');
  expect(mailboxOf('https://example.com/')).toBeNull();
});

describe.each(engines)('e-mails of a user to a mailbox, on %s', (engine) => {
  let db: Db;
  let count = 0;
  beforeEach(async () => {
    db = await openTestDatabase(engine);
    for (const id of ['mallory', 'alice'])
      await createAccessStore(db).insertUser({ id, name: id, role: 'user', created_at: 0 });
  });
  afterEach(() => db.destroy());

  /** Claims what a new webhook with one delivery may send now; the webhook is gone afterwards. */
  async function send(url: string, now: number, userId = 'mallory'): Promise<StoredDelivery[]> {
    const webhook = webhookTo(`w${(count += 1)}`, url, userId);
    const deliveries = createDeliveryStore(db);
    await createWebhookStore(db).insert(webhook, 50);
    await deliveries.insert(webhook, { type: 'webhook.test', at: now, data: '{}', audience: '{}' }, now);
    const claimed = await deliveries.claim(webhook.id, now, now + claimMs);
    const isDue = (await deliveries.listDue(now, [webhook.id])).length > 0;
    expect(isDue).toBe(false);
    await createWebhookStore(db).delete(webhook.id);
    return claimed;
  }

  it('have a pause that outlives the webhook, for all spellings, claimed before the e-mail is sent', async () => {
    expect(await send('mailto:ada@example.com', 1000)).toHaveLength(1);
    for (const url of ['mailto:ada@example.com', 'mailto:Ada@example.com', 'mailto:ada+1@example.com'])
      expect(await send(url, 2000), url).toEqual([]);
    expect(await send('mailto:ada@example.com', 2000, 'alice')).toHaveLength(1);
    expect(await send('mailto:eve@example.com', 2000)).toHaveLength(1);
    expect(await send('mailto:ada@example.com', 1000 + 5 * minuteMs)).toHaveLength(1);
  });

  it('have a bound of a day, and one that was not sent is given back', async () => {
    const deliveries = createDeliveryStore(db);
    const webhook = webhookTo('w', 'mailto:ada@example.com');
    await createWebhookStore(db).insert(webhook, 50);
    const next = async (now: number): Promise<StoredDelivery[]> => {
      await deliveries.insert(webhook, { type: 'webhook.test', at: now, data: '{}', audience: '{}' }, now);
      return deliveries.claim(webhook.id, now, now + claimMs);
    };
    const [first] = await next(0);
    if (first !== undefined) await deliveries.giveMailBack(first);
    for (let number = 0; number < 100; number += 1) expect(await next(number * 5 * minuteMs)).not.toEqual([]);
    expect(await next(100 * 5 * minuteMs)).toEqual([]);
    expect(await next(dayMs)).not.toEqual([]);
  });
});
