import { recordStatuses, recordTypes, type RecordStatus } from '@phalanx/protocol';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import type { Db } from '../../../storage/db/database.ts';
import { openTestDatabase, type Engine, engines } from '../../../testing/engines/test-database.ts';
import { createBrowseStore, type BrowseQuery, type Wanted, type Narrowing } from './browse-store.ts';
import { beginningOfUuidV7 } from '../../../kernel/uuid-v7.ts';
import {
  allCells,
  cellOf,
  cellsMatching,
  kindOf,
  type StoredRecord,
  type ReviewScope,
} from '../stored-record.ts';
import { protectionEnd } from '../retention/protection-end.ts';
import { createRecordStore } from '../store.ts';

async function openStores(engine: Engine) {
  const database = await openTestDatabase(engine);
  return { database, store: createRecordStore(database), browser: createBrowseStore(database) };
}

/** Random numbers that are the same for the same seed (mulberry32). */
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
  // Some crowd into one millisecond, some lie months apart.
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
    cell: cellOf({ type, status: 'pending', isPartial: random(2) === 0 }),
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

/** Plain model of what the stores must do. */
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

  browse({ visible, scopes, cells, tag, narrowing, wanted }: BrowseQuery) {
    const isIn = (record: StoredRecord, list: readonly ReviewScope[]): boolean =>
      list.some(
        (scope) =>
          scope.ownerId === record.owner_id &&
          (scope.automationId === null || scope.automationId === record.automation_id),
      );
    const matches = this.records.filter(
      (one) =>
        isIn(one, scopes) &&
        cells.includes(one.cell) &&
        (tag === undefined || tag === one.tag) &&
        (narrowing.deviceId === undefined || narrowing.deviceId === one.device_id) &&
        (narrowing.runId === undefined || narrowing.runId === one.run_id) &&
        (narrowing.fromId === undefined || one.id >= narrowing.fromId) &&
        (narrowing.untilId === undefined || one.id < narrowing.untilId),
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
  const cells = cellsMatching({
    type: pick(random, [null, null, ...recordTypes]) ?? undefined,
    status: pick(random, [null, null, ...recordStatuses]) ?? undefined,
    isPartial: pick(random, [null, null, true, false]) ?? undefined,
  });
  const narrowing = randomNarrowing(random);
  return { visible, scopes, cells, tag: pick(random, [null, null, ...tags]) ?? undefined, narrowing, wanted };
}

function randomNarrowing(random: (below: number) => number): Narrowing {
  const bound = (): string | undefined =>
    random(3) === 0 ? beginningOfUuidV7(start + pick(random, [0, 1, random(90 * 86_400_000)])) : undefined;
  return {
    deviceId: pick(random, [null, null, ...devices]) ?? undefined,
    runId: pick(random, [null, null, null, ...runs]) ?? undefined,
    fromId: bound(),
    untilId: bound(),
  };
}

/** Every count, taken anew from the records. */
async function expectTrueTallies(database: Db): Promise<void> {
  const { rows: wrong } = await sql`
    select * from record_tally where n <= 0 or n <> ${sql.raw(allCells.map((cell) => `c${cell}`).join('+'))}
    or ${sql.raw(allCells.map((cell) => `c${cell} < 0`).join(' or '))}`.execute(database);
  expect(wrong).toEqual([]);
  const { rows } = await sql<{ list: string; n: number }>`
    select list, n from record_tally where node = '0' order by list`.execute(database);
  const { rows: expected } = await sql<{ list: string; n: number }>`
    select list, count(*) as n from (
      select owner_id || '//' as list from record
      union all select owner_id || '//' || tag from record
      union all select owner_id || '/' || automation_id || '/' from record
      union all select owner_id || '/' || automation_id || '/' || tag from record) as lists
    group by list order by list`.execute(database);
  expect(rows).toEqual(expected);
}

describe.each(engines)('reading records one at a time, from %s', (engine) => {
  it.each([1, 2])(
    'gives what a plain list gives, while records come, change and go (seed %i)',
    async (seed) => {
      const random = createRandom(seed);
      const { database, store, browser } = await openStores(engine);
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
          const wasPending = kindOf(victim.cell).status === 'pending';
          expect((await store.mark(victim.id, status))?.marked).toBe(wasPending);
          if (wasPending) victim.cell = cellOf({ ...kindOf(victim.cell), status });
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
      await expectTrueTallies(database);
      const { rows: split } = await sql`select 1 from record_tally where is_split = 1 limit 1`.execute(
        database,
      );
      expect(split).toHaveLength(1);
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
});
