import { sql } from 'kysely';

import type { Db } from '../db/database.ts';
import { hasLease } from '../db/lease.ts';
import { textsIn } from '../db/rows.ts';

/** A host with its newest connection, as far as that is known. */
export interface StoredHost {
  owner_id: string;
  /** As the host says it. */
  given_id: string;
  name: string;
  epoch: number | null;
  /** The server that has the connection, or had it. */
  node_id: string | null;
  opened_at: number | null;
  ended_at: number | null;
  /** 1: the connection is open, and its server alive. */
  is_connected: number;
}

export interface HostPage {
  /** Empty: from the first one. */
  readonly from: string;
  readonly limit: number;
}

export type KnownHostStore = ReturnType<typeof createKnownHostStore>;

/** The hosts that are connected or have been, to whichever server. */
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
      .select(['host_session.opened_at', 'host_session.ended_at'])
      .select(
        sql<number>`CASE WHEN node.id IS NOT NULL AND host_session.ended_at IS NULL
          AND ${hasLease(db)} THEN 1 ELSE 0 END`.as('is_connected'),
      );
  return {
    /** So many from this ID on, in the order of their IDs. IDs are compared in lower case. */
    listPageOf: (ownerId: string, { from, limit }: HostPage): Promise<StoredHost[]> =>
      select()
        .where('host.owner_id', '=', ownerId)
        .where('host.id', '>=', from)
        .orderBy('host.id')
        .limit(limit)
        .execute(),

    /** The connections of hosts that replay saved screens. */
    listReplaying: (ownerIds: readonly string[]): Promise<StoredHost[]> =>
      select()
        .where('host.owner_id', 'in', textsIn(db, ownerIds))
        .where('host_session.replays', '=', 1)
        .execute(),

    /** In lower case. Several owners may have hosts of one ID. */
    listOfId: (ownerIds: readonly string[], id: string): Promise<StoredHost[]> =>
      select().where('host.owner_id', 'in', textsIn(db, ownerIds)).where('host.id', '=', id).execute(),
  };
}
