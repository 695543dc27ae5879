import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { createAccessStore } from '../../http/access/store.ts';
import { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { Db } from '../../storage/db/database.ts';
import { type Claim, claimWork } from '../../storage/db/work-queue.ts';
import { engines, openTestDatabase } from '../../testing/engines/test-database.ts';
import { createAttemptStore } from './attempt-store.ts';
import { claimMs, DeliveryMaker, type Sent } from './delivery-maker.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createWebhookStore, type StoredWebhook } from './store.ts';
import { webhookTo } from './testing/webhook-row.ts';

const delivered: Sent = { result: 'delivered', responseStatus: 200, problem: '' };

describe.each(engines)('attempts of deliveries on %s', (engine) => {
  let db: Db;
  let webhook: StoredWebhook;
  let now = 0;
  /** Messages in flight, each until the test gives its result. */
  let sending: { ids: string[]; end: (sent: Sent) => void }[];

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'ada', name: 'ada', role: 'user', created_at: 0 });
    webhook = webhookTo('w', 'https://receiver.example/', 'ada');
    await createWebhookStore(db).insert(webhook, 50);
    now = 1000;
    sending = [];
  });
  afterEach(() => db.destroy());

  async function add(count: number): Promise<void> {
    const event = { type: 'webhook.test', at: now, data: '{}', audience: '{}' } as const;
    for (let added = 0; added < count; added += 1) await createDeliveryStore(db).insert(webhook, event, now);
  }

  async function claimNext(): Promise<Claim | undefined> {
    const room = { all: 1, fullLanes: [], inLane: () => 1, itemsOfClaim: 1 };
    return (await claimWork(db, 'send webhook messages', { now, until: now + claimMs, room }))[0];
  }

  /**
   * Lets a server start the due deliveries. Resolves when their messages are in flight, with the end of the server's
   * work.
   */
  async function begin(signal = new AbortController().signal): Promise<{ ended: Promise<void> }> {
    const claim = await claimNext();
    if (claim === undefined) throw new Error('nothing is due');
    const maker = new DeliveryMaker({
      store: createAttemptStore(db),
      clock: { now: () => now },
      faults: new FaultMonitor({ log: pino({ level: 'silent' }) }),
      send: async (deliveries) => {
        const { promise, resolve } = Promise.withResolvers<Sent>();
        sending.push({ ids: deliveries.map(({ id }) => id), end: resolve });
        const sent = await promise;
        return deliveries.map(() => sent);
      },
    });
    const before = sending.length;
    const ended = maker.make(claim, signal);
    await expect.poll(() => sending.length).toBe(before + 1);
    return { ended };
  }

  const listDeliveries = () =>
    db.selectFrom('webhook_delivery').select(['id', 'status', 'attempts']).orderBy('id').execute();
  const listWork = () => db.selectFrom('work').select(['key', 'lane', 'due_at', 'claimed_until']).execute();

  it('a message that arrives while its webhook is paused is not sent again when that goes on', async () => {
    await add(3);
    const { ended } = await begin();
    const store = createWebhookStore(db);
    await store.update(webhook, { paused: 1 }, { now });
    sending[0]?.end(delivered);
    await ended;
    expect((await listDeliveries()).map(({ status }) => status)).toEqual([
      'delivered',
      'delivered',
      'waiting',
    ]);
    // The change has enqueued work, which ends at once for a paused webhook.
    const claim = await claimNext();
    if (claim !== undefined) await createAttemptStore(db).rest(claim, now);
    expect(await listWork()).toEqual([]);
    await store.update(webhook, { paused: 0 }, { now });
    const { ended: rest } = await begin();
    sending[1]?.end(delivered);
    await rest;
    const all = await listDeliveries();
    expect(sending.flatMap(({ ids }) => ids)).toEqual(all.map(({ id }) => id));
    expect(all.map(({ status, attempts }) => [status, attempts])).toEqual(
      Array.from({ length: 3 }, () => ['delivered', 1]),
    );
    expect(await listWork()).toEqual([]);
  });

  it('the result of a server whose claim has run out is not stored, and the message is sent again', async () => {
    await add(1);
    const frozen = await begin();
    now += claimMs;
    const other = await begin();
    sending[0]?.end({ result: 'gone', responseStatus: 410, problem: 'status 410' });
    await frozen.ended;
    expect(await listDeliveries()).toMatchObject([{ status: 'waiting', attempts: 2 }]);
    sending[1]?.end(delivered);
    await other.ended;
    expect(await listDeliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }]);
    expect(sending[0]?.ids).toEqual(sending[1]?.ids);
    expect(await createWebhookStore(db).find('w', { userId: null, tokenProjects: null })).toMatchObject({
      paused: 0,
      last_failure: '',
    });
  });

  it('a server that stops gives back what it has not delivered, and others send it at once', async () => {
    await add(1);
    const stop = new AbortController();
    const { ended } = await begin(stop.signal);
    stop.abort();
    sending[0]?.end({ result: 'refused', responseStatus: null, problem: 'aborted' });
    await ended;
    expect(await listDeliveries()).toMatchObject([{ status: 'waiting', attempts: 0 }]);
    expect(await listWork()).toEqual([{ key: 'w', lane: 'ada', due_at: now, claimed_until: 0 }]);
  });

  it('what comes while messages are under way is sent after them, and retries when they are due', async () => {
    await add(2);
    const { ended } = await begin();
    await add(1);
    expect(await claimNext()).toBeUndefined();
    sending[0]?.end({ result: 'refused', responseStatus: 503, problem: 'status 503', pauseMs: 60_000 });
    await ended;
    const { ended: later } = await begin();
    expect(sending[1]?.ids).toHaveLength(1);
    sending[1]?.end(delivered);
    await later;
    expect(await listWork()).toEqual([{ key: 'w', lane: 'ada', due_at: now + 60_000, claimed_until: 0 }]);
    expect(await claimNext()).toBeUndefined();
    now += 60_000;
    const { ended: again } = await begin();
    expect(sending[2]?.ids).toEqual(sending[0]?.ids);
    sending[2]?.end(delivered);
    await again;
  });
});
