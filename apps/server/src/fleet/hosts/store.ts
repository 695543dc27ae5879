import { sql } from 'kysely';
import type { Db, Transaction } from '../../storage/db/database.ts';
import type { GroupCommit } from '../../storage/db/group-commit.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import { numbersIn, textsIn } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { hasLease } from '../../storage/db/lease.ts';

/** Host that requests a connection, with its user and its token. */
export interface HostCandidate {
  readonly userId: string;
  readonly tokenId: string;
  readonly hostId: string;
  readonly hostName: string;
  /** Whether the host masks the secrets of a launch. */
  readonly knowsSecrets: boolean;
  /** Whether the host restricts runs to the apps of a token. */
  readonly knowsAppLimits: boolean;
  /** Whether the host replays saved screens. */
  readonly replays: boolean;
}

/**
 * Epoch of the connection, or why there is none: the host ID belongs to a token of this name, or its user has too many
 * hosts.
 */
export type HostOpening = { epoch: number } | { belongsTo: string } | 'too_many';

interface Terms {
  nodeId: string;
  /** Maximum number of hosts that a user may have. */
  maxHosts: number;
  /** Epoch ms. */
  now: number;
}

export type HostStore = ReturnType<typeof createHostStore>;

/** Stores the hosts of users, the token of each host, and its newest connection. */
export function createHostStore(db: Db, commits: GroupCommit) {
  return {
    /** Opens the newest connection of a host and replaces an earlier one. */
    open: (candidate: HostCandidate, terms: Terms): Promise<HostOpening> =>
      commits.write(
        async (transaction) =>
          (await admit(transaction, candidate, terms)) ?? {
            epoch: await begin(transaction, candidate, terms),
          },
      ),

    async end(epochs: readonly number[], now: number): Promise<void> {
      await commits.write((transaction) =>
        transaction
          .updateTable('host_session')
          .set({ ended_at: now })
          .where('epoch', 'in', numbersIn(transaction, epochs))
          .where('ended_at', 'is', null)
          .execute(),
      );
    },

    async setProblem(epoch: number, problem: string | null): Promise<void> {
      await commits.write((transaction) =>
        transaction.updateTable('host_session').set({ problem }).where('epoch', '=', epoch).execute(),
      );
    },

    /** Lists the last connections of hosts that have been disconnected since this time or longer. */
    listAway: (since: number): Promise<Pick<Row<'host_session'>, 'owner_id' | 'host_id' | 'epoch'>[]> =>
      db
        .selectFrom('host_session')
        .select(['owner_id', 'host_id', 'epoch'])
        .where('ended_at', '<=', since)
        .execute(),

    /** Returns those of the connections that are no longer the newest of their hosts. */
    async listReplaced(epochs: readonly number[]): Promise<Set<number>> {
      const rows = await db
        .selectFrom('host_session')
        .select('epoch')
        .where('epoch', 'in', numbersIn(db, epochs))
        .execute();
      return new Set(epochs).difference(new Set(rows.map(({ epoch }) => epoch)));
    },

    count: (ownerId: string): Promise<number> => countHosts(db, ownerId),
  };
}

/** Begins a connection. Deletes the row of an earlier connection, so that its late messages are rejected. */
async function begin(transaction: Transaction, candidate: HostCandidate, terms: Terms): Promise<number> {
  const host = { owner_id: candidate.userId, host_id: idOf(candidate) };
  const earlier = await transaction
    .deleteFrom('host_session')
    .where('owner_id', '=', host.owner_id)
    .where('host_id', '=', host.host_id)
    .returning('last_log_id')
    .executeTakeFirst();
  const { epoch } = await transaction
    .insertInto('host_session')
    .values({
      ...host,
      node_id: terms.nodeId,
      opened_at: terms.now,
      knows_secrets: Number(candidate.knowsSecrets),
      knows_app_limits: Number(candidate.knowsAppLimits),
      replays: Number(candidate.replays),
      last_log_id: earlier?.last_log_id ?? '',
    })
    .returning('epoch')
    .executeTakeFirstOrThrow();
  return epoch;
}

const idOf = ({ hostId }: HostCandidate): string => hostId.toLowerCase();

/**
 * Returns why a host may not connect, or undefined when it may. In that case, no other connection of the host can be
 * opened before the transaction ends.
 */
async function admit(
  transaction: Transaction,
  candidate: HostCandidate,
  terms: Terms,
): Promise<Exclude<HostOpening, { epoch: number }> | undefined> {
  if (await claim(transaction, candidate, terms.now)) return undefined;
  const { userId } = candidate;
  const quota = { kind: 'hosts', owner: userId, max: terms.maxHosts };
  const room = await roomWithin(transaction, quota, () => countHosts(transaction, userId));
  // A transaction that held the lock may have admitted the host in the meantime.
  if (await claim(transaction, candidate, terms.now)) return undefined;
  const owner = await findClaim(transaction, candidate);
  if (owner !== undefined) return { belongsTo: owner.name ?? '' };
  if (room < 1 && !(await makeRoom(transaction, userId))) return 'too_many';
  const host = {
    owner_id: userId,
    id: idOf(candidate),
    given_id: candidate.hostId,
    name: candidate.hostName,
  };
  await transaction
    .insertInto('host')
    .values({ ...host, token_id: candidate.tokenId, seen_at: terms.now })
    .execute();
  return undefined;
}

/**
 * Claims a host for the token of the candidate. Returns false when the host is unknown or belongs to another valid
 * token.
 */
async function claim(transaction: Transaction, candidate: HostCandidate, now: number): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('host')
    .set({ token_id: candidate.tokenId, seen_at: now, given_id: candidate.hostId, name: candidate.hostName })
    .where('owner_id', '=', candidate.userId)
    .where('id', '=', idOf(candidate))
    .where((eb) => {
      const token = eb.selectFrom('token').select('token.id').whereRef('token.id', '=', 'host.token_id');
      const isOwn = eb.or([eb('token_id', 'is', null), eb('token_id', '=', candidate.tokenId)]);
      return eb.or([isOwn, eb.exists(token.where('token.expires_at', '<=', now))]);
    })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const findClaim = (
  transaction: Transaction,
  candidate: HostCandidate,
): Promise<{ name: string | null } | undefined> =>
  transaction
    .selectFrom('host')
    .leftJoin('token', 'token.id', 'host.token_id')
    .select('token.name')
    .where('host.owner_id', '=', candidate.userId)
    .where('host.id', '=', idOf(candidate))
    .executeTakeFirst();

const countHosts = (db: Db, ownerId: string): Promise<number> =>
  countRows(db.selectFrom('host').where('owner_id', '=', ownerId));

/** Deletes the least recently seen host that is disconnected and has no phones. Returns false when there is none. */
async function makeRoom(transaction: Transaction, ownerId: string): Promise<boolean> {
  const empty = await transaction
    .selectFrom('host')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where((eb) => {
      const phones = eb
        .selectFrom('device')
        .select('device.id')
        .whereRef('device.owner_id', '=', 'host.owner_id')
        .whereRef('device.host_id', '=', 'host.id');
      return eb.not(eb.exists(phones));
    })
    .where((eb) => {
      const connections = eb
        .selectFrom('host_session')
        .select('host_session.epoch')
        .whereRef('host_session.owner_id', '=', 'host.owner_id')
        .whereRef('host_session.host_id', '=', 'host.id');
      return eb.not(eb.exists(connections.where('host_session.ended_at', 'is', null)));
    })
    .where((eb) => {
      // Runs are marked as lost when the last connection of their host ended long ago, so that connection must stay
      // known.
      const runs = eb
        .selectFrom('run')
        .select('run.id')
        .whereRef('run.device_owner_id', '=', 'host.owner_id')
        .whereRef('run.host_id', '=', 'host.id');
      return eb.not(eb.exists(runs.where('run.ended_at', 'is', null)));
    })
    .orderBy('seen_at')
    .limit(1)
    .executeTakeFirst();
  if (empty === undefined) return false;
  const { id } = empty;
  await transaction.deleteFrom('host').where('owner_id', '=', ownerId).where('id', '=', id).execute();
  await transaction
    .deleteFrom('host_session')
    .where('owner_id', '=', ownerId)
    .where('host_id', '=', id)
    .execute();
  return true;
}

/** Host with its newest connection, if that is known. */
export interface StoredHost {
  owner_id: string;
  /** ID as spelled by the host. */
  given_id: string;
  name: string;
  epoch: number | null;
  /** Server that has or had the connection. */
  node_id: string | null;
  opened_at: number | null;
  ended_at: number | null;
  /** Reason why the host finds no phones, as reported on that connection. */
  problem: string | null;
  /** Set to 1 when the connection is open and its server is alive. */
  is_connected: number;
}

export interface HostPage {
  /** First ID of the page; empty for the first page. */
  readonly from: string;
  readonly limit: number;
}

export type KnownHostStore = ReturnType<typeof createKnownHostStore>;

/** Reads the hosts that are or have been connected to any server. */
export function createKnownHostStore(db: Db) {
  const select = () =>
    db
      .selectFrom('host')
      .leftJoin('host_session', (join) =>
        join
          .onRef('host_session.owner_id', '=', 'host.owner_id')
          .onRef('host_session.host_id', '=', 'host.id'),
      )
      .leftJoin('node', 'node.id', 'host_session.node_id')
      .select(['host.owner_id', 'host.given_id', 'host.name'])
      .select(['host_session.epoch', 'host_session.node_id'])
      .select(['host_session.opened_at', 'host_session.ended_at', 'host_session.problem'])
      .select(
        sql<number>`CASE WHEN node.id IS NOT NULL AND host_session.ended_at IS NULL
          AND ${hasLease(db)} THEN 1 ELSE 0 END`.as('is_connected'),
      );
  return {
    /** Lists at most `limit` hosts from this ID on, ordered by ID. IDs are compared in lower case. */
    listPageOf: (ownerId: string, { from, limit }: HostPage): Promise<StoredHost[]> =>
      select()
        .where('host.owner_id', '=', ownerId)
        .where('host.id', '>=', from)
        .orderBy('host.id')
        .limit(limit)
        .execute(),

    /** Lists the connections of hosts that replay saved screens. */
    listReplaying: (ownerIds: readonly string[]): Promise<StoredHost[]> =>
      select()
        .where('host.owner_id', 'in', textsIn(db, ownerIds))
        .where('host_session.replays', '=', 1)
        .execute(),

    /** Lists the hosts with this lowercase ID. Hosts of several owners may share one ID. */
    listOfId: (ownerIds: readonly string[], id: string): Promise<StoredHost[]> =>
      select().where('host.owner_id', 'in', textsIn(db, ownerIds)).where('host.id', '=', id).execute(),
  };
}
