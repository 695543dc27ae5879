import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../../http/access/store.ts';
import type { Db } from '../../../storage/db/database.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { type Claim, claimWork } from '../../../storage/db/work-queue.ts';
import { type Batch, createAttemptStore } from '../attempt-store.ts';
import { createDeliveryStore } from '../delivery-store.ts';
import { createWebhookStore, type StoredWebhook } from '../store.ts';
import { webhookTo } from '../testing/webhook-row.ts';
import { dayMs, minuteMs } from '@phalanx/timing/durations';

const claimMs = 30_000;

describe.each(engines)('e-mails of a user to a mailbox, on %s', (engine) => {
  let db: Db;
  let count = 0;
  beforeEach(async () => {
    db = await openTestDatabase(engine);
    for (const id of ['mallory', 'alice'])
      await createAccessStore(db).insertUser({ id, name: id, role: 'user', created_at: 0 });
  });
  afterEach(() => db.destroy());

  async function claimNext(now: number): Promise<Claim | undefined> {
    const room = { all: 1, fullLanes: [], inLane: () => 1, itemsOfClaim: 1 };
    const claims = await claimWork(db, 'send webhook messages', { now, until: now + claimMs, room });
    return claims[0];
  }

  /** Adds a delivery to a webhook, and starts the batch that it may send now. */
  async function next(
    webhook: StoredWebhook,
    now: number,
  ): Promise<{ claim: Claim; batch: Batch | undefined }> {
    const event = { type: 'webhook.test', at: now, data: '{}', audience: '{}' } as const;
    await createDeliveryStore(db).insert(webhook, event, now);
    const claim = await claimNext(now);
    if (claim === undefined) throw new Error('there is nothing to claim');
    return { claim, batch: await createAttemptStore(db).begin(claim, now) };
  }

  /** Counts the messages that a new webhook with one delivery may send now. The webhook is deleted afterwards. */
  async function send(url: string, now: number, userId = 'mallory'): Promise<number> {
    const webhook = webhookTo(`w${(count += 1)}`, url, userId);
    await createWebhookStore(db).insert(webhook, 50);
    const { claim, batch } = await next(webhook, now);
    if (batch === undefined) await createAttemptStore(db).rest(claim, now);
    expect(await claimNext(now)).toBeUndefined();
    await createWebhookStore(db).delete(webhook.id);
    for (const until of [now, now + claimMs]) {
      const left = await claimNext(until);
      if (left !== undefined) await createAttemptStore(db).rest(left, until);
    }
    return batch?.deliveries.length ?? 0;
  }

  it('have a pause that outlives the webhook, for all spellings, claimed before the e-mail is sent', async () => {
    expect(await send('mailto:ada@example.com', 1000)).toBe(1);
    for (const url of ['mailto:ada@example.com', 'mailto:Ada@example.com', 'mailto:ada+1@example.com'])
      expect(await send(url, 2000), url).toBe(0);
    expect(await send('mailto:ada@example.com', 2000, 'alice')).toBe(1);
    expect(await send('mailto:eve@example.com', 2000)).toBe(1);
    expect(await send('mailto:ada@example.com', 1000 + 5 * minuteMs)).toBe(1);
  });

  it('have a bound of a day, and one that was not sent is given back', async () => {
    const webhook = webhookTo('w', 'mailto:ada@example.com');
    await createWebhookStore(db).insert(webhook, 50);
    const nextBatch = async (now: number): Promise<Batch | undefined> => (await next(webhook, now)).batch;
    const { claim, batch } = await next(webhook, 0);
    if (batch === undefined) throw new Error('nothing may be sent');
    await createAttemptStore(db).end(claim, { ...batch, attempts: [undefined], now: 0 });
    for (let number = 0; number < 100; number += 1)
      expect(await nextBatch(number * 5 * minuteMs)).toBeDefined();
    expect(await nextBatch(100 * 5 * minuteMs)).toBeUndefined();
    expect(await nextBatch(dayMs)).toBeDefined();
  });
});
