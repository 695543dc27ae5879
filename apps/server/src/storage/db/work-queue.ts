import { sql } from 'kysely';
import { textsIn, rowsAs } from './dialect.ts';
import { announce } from './commit-announcements.ts';
import type { EpochMs, Json, WorkKind } from './tables/column-types.ts';
import type { Db, Row, Transaction } from './tables/tables.ts';
import { forUpdateSkipLocked, transact } from './transactions.ts';

export type WorkItem = Row<'work'>;

interface NewWork {
  readonly key: string;
  readonly lane?: string;
  /** Due immediately by default. */
  readonly dueAt?: EpochMs;
  readonly payload?: Json;
}

/** Items of one lane that a server claims, renews and ends together. */
export interface Claim {
  readonly kind: WorkKind;
  readonly lane: string;
  /** End of the claim. The claim is lost when a renewal or an end finds another time in the rows. */
  until: EpochMs;
  /** Whether its end is stored, or was refused because the claim was lost. */
  isEnded: boolean;
  /** Claimed items, without those that have ended by themselves. */
  items: readonly WorkItem[];
}

/** Room of a worker for more claims. */
interface Room {
  readonly all: number;
  /** Lanes that are full. */
  readonly fullLanes: readonly string[];
  readonly inLane: (lane: string) => number;
  /**
   * Maximum number of items per claim. An item that was claimed before is claimed alone, because it may be why the
   * others failed.
   */
  readonly itemsOfClaim: number;
}

/** Due time of an item that waits for `makeDue`. */
export const notDue: EpochMs = Number.MAX_SAFE_INTEGER;

const columns = { key: 'text', lane: 'text', due_at: 'bigint', payload: 'text' } as const;

/**
 * Enqueues work in the transaction that makes it necessary. A call must not contain a key twice. An existing item
 * becomes due at the new time. If a server has claimed it, the work is done once more afterwards.
 */
export async function enqueue(
  transaction: Transaction,
  kind: WorkKind,
  items: readonly NewWork[],
): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map(({ key, lane = '', dueAt = 0, payload = null }) => {
    return { key, lane, due_at: dueAt, payload };
  });
  await sql`INSERT INTO work (kind, key, lane, due_at, payload)
    SELECT ${kind}, key, lane, due_at, payload FROM ${rowsAs(transaction, 'item', columns, rows)} WHERE 1 = 1
    ON CONFLICT (kind, key) DO UPDATE SET lane = excluded.lane, due_at = excluded.due_at,
      payload = excluded.payload, attempts = 0, problem = '', is_again = 1`.execute(transaction);
  announce(transaction, kind);
}

/** Makes a waiting item due at this time. Does nothing when the item does not exist. */
export async function makeDue(
  transaction: Transaction,
  kind: WorkKind,
  { key, dueAt }: { key: string; dueAt: EpochMs },
): Promise<void> {
  const item = transaction.updateTable('work').where('kind', '=', kind).where('key', '=', key);
  await item.set({ due_at: dueAt, is_again: 1 }).execute();
  announce(transaction, kind);
}

/** Finds an item, even when it is not due or is claimed. */
export const findWork = (db: Db, kind: WorkKind, key: string): Promise<WorkItem | undefined> =>
  db.selectFrom('work').selectAll().where('kind', '=', kind).where('key', '=', key).executeTakeFirst();

/** Lists the keys of all items of a kind, including those that are not due. */
export async function listEnqueued(db: Db, kind: WorkKind): Promise<string[]> {
  const rows = await db.selectFrom('work').select('key').where('kind', '=', kind).execute();
  return rows.map(({ key }) => key);
}

/** Finds when the next unclaimed item of each kind is due. Kinds without one have no entry. */
export async function listNextDue(
  db: Db,
  kinds: readonly WorkKind[],
  now: EpochMs,
): Promise<{ kind: WorkKind; dueAt: EpochMs }[]> {
  const asked = rowsAs(
    db,
    'asked',
    { kind: 'text' },
    kinds.map((kind) => ({ kind })),
  );
  const next = sql`SELECT due_at FROM work WHERE work.kind = asked.kind AND claimed_until <= ${now} ORDER BY due_at LIMIT 1`;
  const query = sql<{
    kind: WorkKind;
    due_at: EpochMs | null;
  }>`SELECT kind, (${next}) AS due_at FROM ${asked}`;
  const { rows } = await query.execute(db);
  return rows.flatMap(({ kind, due_at: dueAt }) => (dueAt === null ? [] : [{ kind, dueAt }]));
}

/** Claims due items for which there is room, earliest first. */
export const claimWork = (
  db: Db,
  kind: WorkKind,
  { now, until, room }: { now: EpochMs; until: EpochMs; room: Room },
): Promise<Claim[]> =>
  transact(db, async (transaction) => {
    const due = transaction
      .selectFrom('work')
      .select(['key', 'lane', 'attempts'])
      .where('kind', '=', kind)
      .where('due_at', '<=', now)
      .where('claimed_until', '<=', now)
      .where('lane', 'not in', textsIn(transaction, room.fullLanes))
      .orderBy('due_at')
      .limit(room.all * room.itemsOfClaim);
    const chosen = chooseKeys(await forUpdateSkipLocked(transaction, due).execute(), room);
    if (chosen.length === 0) return [];
    const rows = await transaction
      .updateTable('work')
      .set((eb) => ({ claimed_until: until, attempts: eb('attempts', '+', 1), is_again: 0 }))
      .where('kind', '=', kind)
      .where('key', 'in', textsIn(transaction, chosen.flat()))
      .returningAll()
      .execute();
    const items = new Map(rows.map((row) => [row.key, row]));
    return chosen.map((keys) => {
      const ofClaim = keys.flatMap((key) => items.get(key) ?? []);
      return { kind, lane: ofClaim[0]?.lane ?? '', until, isEnded: false, items: ofClaim.toSorted(byAge) };
    });
  });

/** Sorts items by due time; UUIDs that are due at the same time, oldest first. */
const byAge = (one: WorkItem, other: WorkItem): number =>
  one.due_at - other.due_at || (one.key < other.key ? -1 : 1);

/** Chooses the keys of each claim. Items without room stay unclaimed. */
function chooseKeys(
  due: readonly Pick<WorkItem, 'key' | 'lane' | 'attempts'>[],
  { all, inLane, itemsOfClaim }: Room,
): string[][] {
  const claims: string[][] = [];
  const counts = new Map<string, number>();
  /** Claim of each lane that takes more items. */
  const open = new Map<string, string[]>();
  for (const { key, lane, attempts } of due) {
    const isAlone = attempts > 0;
    const last = isAlone ? undefined : open.get(lane);
    const count = counts.get(lane) ?? 0;
    if (last !== undefined && last.length < itemsOfClaim) last.push(key);
    else if (claims.length < all && count < inLane(lane)) {
      const claim = [key];
      claims.push(claim);
      counts.set(lane, count + 1);
      if (!isAlone) open.set(lane, claim);
    }
  }
  return claims;
}

/** Writes in the same transaction. Returns false when the subject of the work no longer exists. */
type Writing = (transaction: Transaction) => Promise<boolean>;

const nothing: Writing = async () => true;

/** Extends the claim, and writes what belongs to it. Returns false when the claim was lost, and then writes nothing. */
export async function renewClaim(
  db: Db,
  claim: Claim,
  until: EpochMs,
  write: Writing = nothing,
): Promise<boolean> {
  const isRenewed = await transact(
    db,
    async (transaction) => (await isHeld(transaction, claim, until)) && write(transaction),
  );
  // Set after the commit, because the transaction might have been rolled back.
  if (isRenewed) claim.until = until;
  return isRenewed;
}

/**
 * Deletes the items, except those that were enqueued again, which it leaves to the next claim. Writes what belongs to
 * that. Returns false when the claim was lost, and then writes nothing.
 */
export const finishWork = (db: Db, claim: Claim, write: Writing = nothing): Promise<boolean> =>
  end(db, claim, async (transaction) => (await finishIn(transaction, claim)) && write(transaction));

/** Finishes a claim in a transaction of the work itself, which must write nothing when the claim was lost. */
export async function finishIn(transaction: Transaction, claim: Claim): Promise<boolean> {
  if (!(await isHeld(transaction, claim, claim.until))) return false;
  const { numDeletedRows } = await transaction
    .deleteFrom('work')
    .where('kind', '=', claim.kind)
    .where('key', 'in', keysOf(transaction, claim))
    .where('claimed_until', '=', claim.until)
    .where('is_again', '=', 0)
    .executeTakeFirst();
  if (numDeletedRows < claim.items.length) await held(transaction, claim).set({ claimed_until: 0 }).execute();
  return true;
}

/** Ends the claim of an attempt that will be retried. Items that were not enqueued again become due at that time. */
export const postponeWork = (
  db: Db,
  claim: Claim,
  { dueAt, problem }: { dueAt: EpochMs; problem: string },
  write: Writing = nothing,
): Promise<boolean> =>
  end(db, claim, async (transaction) => {
    if (!(await isHeld(transaction, claim, claim.until))) return false;
    await release(transaction, claim, { due_at: dueAt, problem });
    return write(transaction);
  });

/**
 * Writes the result of the work and ends the claim. `write` returns the time when the items are due again, or undefined
 * when they are done. Returns false when the claim was lost, and then writes nothing.
 */
export const endWork = (
  db: Db,
  claim: Claim,
  write: (transaction: Transaction) => Promise<EpochMs | undefined>,
): Promise<boolean> =>
  end(db, claim, async (transaction) => {
    if (!(await isHeld(transaction, claim, claim.until))) return false;
    const dueAt = await write(transaction);
    if (dueAt === undefined) return finishIn(transaction, claim);
    await release(transaction, claim, { due_at: dueAt, attempts: 0, problem: '' });
    return true;
  });

/** Ends a claim. Afterwards, another claim may have the same end time. */
async function end(db: Db, claim: Claim, work: Writing): Promise<boolean> {
  const isWritten = await transact(db, work);
  claim.isEnded = true;
  return isWritten;
}

/** Leaves the items to the next claim, and applies the change to those that were not enqueued again. */
async function release(transaction: Transaction, claim: Claim, change: Partial<WorkItem>): Promise<void> {
  await held(transaction, claim).where('is_again', '=', 0).set(change).execute();
  await held(transaction, claim).set({ claimed_until: 0 }).execute();
}

/** Gives the items back as if they had not been claimed. */
export async function giveBack(db: Db, claim: Claim): Promise<void> {
  const attempts = sql<number>`CASE WHEN is_again = 1 THEN attempts ELSE attempts - 1 END`;
  await held(db, claim).set({ claimed_until: 0, attempts }).execute();
}

/** Deletes items whose work is no longer wanted. A server that processes one loses its claim. */
export async function cancelWork(
  transaction: Transaction,
  kind: WorkKind,
  keys: readonly string[],
): Promise<void> {
  const query = transaction.deleteFrom('work').where('kind', '=', kind);
  await query.where('key', 'in', textsIn(transaction, keys)).execute();
}

const keysOf = (db: Db, { items }: Claim) =>
  textsIn(
    db,
    items.map(({ key }) => key),
  );

/** Returns an update of the claim's items, as long as this server holds the claim. */
const held = (db: Db, claim: Claim) =>
  db
    .updateTable('work')
    .where('kind', '=', claim.kind)
    .where('key', 'in', keysOf(db, claim))
    .where('claimed_until', '=', claim.until);

/** Whether this server holds all items of the claim. Sets the end of the claim to `until`. */
async function isHeld(transaction: Transaction, claim: Claim, until: EpochMs): Promise<boolean> {
  const { numUpdatedRows } = await held(transaction, claim).set({ claimed_until: until }).executeTakeFirst();
  return numUpdatedRows >= claim.items.length;
}
