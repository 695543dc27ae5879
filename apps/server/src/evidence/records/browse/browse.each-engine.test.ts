import { recordStatuses, recordTypes, type RecordStatus } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { openTestDatabase, type Engine, engines } from '../../../testing/engines/test-database.ts';
import { createBrowseStore, type BrowseQuery, type RecordFilter, type Wanted } from './browse-store.ts';
import { beginningOfUuidV7 } from '../../../kernel/uuid-v7.ts';
import type { StoredRecord, ReviewScope } from '../stored-record.ts';
import { protectionEnd } from '../retention/protection-end.ts';
import { createRecordStore } from '../store.ts';

async function openStores(engine: Engine) {
  const database = await openTestDatabase(engine);
  return { store: createRecordStore(database), browser: createBrowseStore(database) };
}

/** Creates a seeded random number generator (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const pick = <Item>(random: (below: number) => number, items: readonly Item[]): Item => {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
};

const owners = ['owner-a', 'owner-b'];
const automations = ['auto-1', 'auto-2', 'auto-3'];
const tags = ['default', 'login', 'täg/with:signs'];
const devices = ['phone-1', 'phone-2'];
const runs = ['run-1', 'run-2', 'run-3'];
const limits = { debugPerTag: 6, others: 60 };
const start = Date.UTC(2026, 5, 1);

function randomRecord(random: (below: number) => number): StoredRecord {
  const type = pick(random, recordTypes);
  const tag = type === 'debug' ? pick(random, tags) : 'default';
  // Some records share a millisecond, others are months apart.
  const addedAt = start + pick(random, [0, 1, random(1000), random(86_400_000), random(90) * 86_400_000]);
  const rest = Uint8Array.from({ length: 16 }, () => random(256));
  return {
    id: uuidv7({ msecs: addedAt, random: rest, seq: random(2 ** 31) }),
    owner_id: pick(random, owners),
    automation_id: pick(random, automations),
    project_id: null,
    run_id: pick(random, runs),
    user_id: 'user',
    device_id: pick(random, devices),
    device_info: '{}',
    app: null,
    automation_name: 'name',
    type,
    status: 'pending',
    is_partial: random(2),
    tag,
    retention_group: type === 'debug' ? tag : '',
    saved: random(6) === 0 ? 1 : 0,
    has_gap: 0,
    missing_captures: 0,
    capture_bytes: 0,
    added_at: addedAt,
    error: null,
  };
}

const groupOf = (record: StoredRecord): string =>
  `${record.owner_id} ${record.automation_id} ${record.retention_group}`;

/** Reference model of the stores. */
class Model {
  records: StoredRecord[] = [];

  insert(record: StoredRecord, nowMs: number): void {
    this.records.push(record);
    this.records.sort((a, b) => (a.id < b.id ? 1 : -1));
    this.trim(record, nowMs);
  }

  trim(record: StoredRecord, nowMs: number): void {
    const keep = record.retention_group === '' ? limits.others : limits.debugPerTag;
    const surplus = this.records.filter((other) => groupOf(other) === groupOf(record)).slice(keep);
    const doomed = new Set(surplus.filter((one) => one.saved === 0 || protectionEnd(one.added_at) <= nowMs));
    this.records = this.records.filter((one) => !doomed.has(one));
  }

  browse({ visible, scopes, filter, wanted }: BrowseQuery) {
    const isIn = (record: StoredRecord, list: readonly ReviewScope[]): boolean =>
      list.some(
        (scope) =>
          scope.ownerId === record.owner_id &&
          (scope.automationId === null || scope.automationId === record.automation_id),
      );
    const matches = this.records.filter(
      (one) =>
        isIn(one, scopes) &&
        (filter.type === undefined || filter.type === one.type) &&
        (filter.status === undefined || filter.status === one.status) &&
        (filter.isPartial === undefined || filter.isPartial === (one.is_partial === 1)) &&
        (filter.tag === undefined || filter.tag === one.tag) &&
        (filter.deviceId === undefined || filter.deviceId === one.device_id) &&
        (filter.runId === undefined || filter.runId === one.run_id) &&
        (filter.fromId === undefined || one.id >= filter.fromId) &&
        (filter.untilId === undefined || one.id < filter.untilId),
    );
    const found = {
      newest: () => matches[0],
      this: (id: string) => this.records.find((one) => one.id === id && isIn(one, visible)),
      older: (id: string) => matches.find((one) => one.id < id),
      newer: (id: string) => matches.findLast((one) => one.id > id),
    };
    const record = wanted.kind === 'newest' ? found.newest() : found[wanted.kind](wanted.id);
    if (record === undefined) return undefined;
    const newer = matches.filter((one) => one.id > record.id).length;
    return { record, total: matches.length, newer, isMatch: matches.includes(record) };
  }
}

function randomQuery(random: (below: number) => number, ids: readonly string[]): BrowseQuery {
  const [ownerA = '', ownerB = ''] = owners;
  const visible = pick<ReviewScope[]>(random, [
    [{ ownerId: ownerA, automationId: null }],
    [
      { ownerId: ownerA, automationId: null },
      { ownerId: ownerB, automationId: 'auto-1' },
      { ownerId: ownerB, automationId: 'auto-2' },
    ],
    [{ ownerId: ownerB, automationId: 'auto-3' }],
    [],
  ]);
  const scopes = random(3) === 0 ? visible.filter((scope) => scope.automationId !== 'auto-2') : visible;
  const id = random(8) === 0 ? uuidv7({ msecs: start + random(90 * 86_400_000) }) : pick(random, ids);
  const wanted = pick<Wanted>(random, [
    { kind: 'newest' },
    { kind: 'this', id },
    { kind: 'older', id },
    { kind: 'newer', id },
  ]);
  return { visible, scopes, filter: randomFilter(random), wanted };
}

function randomFilter(random: (below: number) => number): RecordFilter {
  const bound = (): string | undefined =>
    random(3) === 0 ? beginningOfUuidV7(start + pick(random, [0, 1, random(90 * 86_400_000)])) : undefined;
  return {
    type: pick(random, [null, null, ...recordTypes]) ?? undefined,
    status: pick(random, [null, null, ...recordStatuses]) ?? undefined,
    isPartial: pick(random, [null, null, true, false]) ?? undefined,
    tag: pick(random, [null, null, ...tags]) ?? undefined,
    deviceId: pick(random, [null, null, ...devices]) ?? undefined,
    runId: pick(random, [null, null, null, ...runs]) ?? undefined,
    fromId: bound(),
    untilId: bound(),
  };
}

describe.each(engines)('reading records one at a time, from %s', (engine) => {
  it.each([1, 2])(
    'gives what a plain list gives, while records come, change and go (seed %i)',
    async (seed) => {
      const random = createRandom(seed);
      const { store, browser } = await openStores(engine);
      const model = new Model();
      const everKnown: string[] = [uuidv7()];
      let deletions = 0;
      let nowMs = start + 30 * 86_400_000;
      for (let step = 0; step < 1200; step += 1) {
        nowMs += random(86_400_000 / 16);
        const victim = model.records.length === 0 ? undefined : pick(random, model.records);
        const action = victim === undefined ? 0 : random(10);
        if (victim === undefined || action < 6) {
          const record = randomRecord(random);
          everKnown.push(record.id);
          const before = model.records.length;
          model.insert(record, nowMs);
          const result = await store.insert(record, [], { limits, nowMs });
          deletions += result.deleted;
          expect(result).toEqual({ isNew: true, deleted: before + 1 - model.records.length });
        } else if (action === 6) {
          const status = pick<RecordStatus>(random, ['solved', 'skipped']);
          const wasPending = victim.status === 'pending';
          expect((await store.mark(victim.id, status))?.marked).toBe(wasPending);
          if (wasPending) victim.status = status;
        } else if (action === 7) {
          victim.saved = random(2);
          await store.save(victim.id, victim.saved === 1, { limits, nowMs });
          if (victim.saved === 0) model.trim(victim, nowMs);
        }
        for (let ask = 0; ask < 2; ask += 1) {
          const query = randomQuery(random, everKnown);
          expect(await browser.browse(query)).toEqual(model.browse(query));
        }
      }
      expect(deletions).toBeGreaterThan(50);
      for (const ownerId of owners) {
        for (const automationId of automations) {
          const expected = model.records.filter(
            (one) => one.owner_id === ownerId && one.automation_id === automationId && one.retention_group,
          );
          expect(await browser.listTags({ ownerId, automationId })).toEqual(
            [...new Set(expected.map((one) => one.tag))].sort(),
          );
        }
      }
    },
    60_000,
  );

  it('counts as many records as there are pages, whatever the filters, and numbers them in order', async () => {
    const random = createRandom(3);
    const { store, browser } = await openStores(engine);
    const records = Array.from({ length: 300 }, () => randomRecord(random));
    const keepAll = { limits: { debugPerTag: 300, others: 300 }, nowMs: start };
    for (const record of records) {
      await store.insert(record, [], keepAll);
      if (random(3) === 0) await store.mark(record.id, pick(random, ['solved', 'skipped']));
    }
    let maxPages = 0;
    for (let search = 0; search < 40; search += 1) {
      const query = randomQuery(random, [uuidv7()]);
      const totals: number[] = [];
      const positions: number[] = [];
      for (let wanted: Wanted | undefined = { kind: 'newest' }; wanted !== undefined;) {
        const page = await browser.browse({ ...query, wanted });
        if (page !== undefined) {
          totals.push(page.total);
          positions.push(page.newer + 1);
        }
        wanted = page && { kind: 'older', id: page.record.id };
      }
      const pages = positions.length;
      expect(totals).toEqual(Array.from({ length: pages }, () => pages));
      expect(positions).toEqual(Array.from({ length: pages }, (_, index) => index + 1));
      maxPages = Math.max(maxPages, pages);
    }
    expect(maxPages).toBeGreaterThan(100);
  });
});
