import { sql, type RawBuilder } from 'kysely';
import { batchQueries } from '../../storage/db/postgres/batch-queries.ts';
import type { Db } from '../../storage/db/database.ts';
import { hasLease, lastRenewal } from '../../storage/db/lease.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { countOwned } from './store.ts';

/** Device with the newest connection of its host, and the server of that connection. */
export interface DevicePlacement extends Row<'device'> {
  session_epoch: number | null;
  opened_at: number | null;
  ended_at: number | null;
  /** Server that has or had the connection. */
  node_id: string | null;
  lease_until: number | null;
  /** Time when that server last renewed its lease. */
  renewed_at: number | null;
  /** Set to 1 when the connection is open and its server is alive. */
  is_connected: number;
  knows_secrets: number | null;
  knows_app_limits: number | null;
}

export interface DevicePage {
  /** ID of the device before the page; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** Devices of one host with the same state on the same connection. */
export interface StateCount extends Pick<Row<'device'>, 'host_id' | 'epoch' | 'state'> {
  readonly count: number;
}

export type DevicePlacementStore = ReturnType<typeof createDevicePlacementStore>;

/** Reads devices together with the connections of their hosts, across all servers. */
export function createDevicePlacementStore(db: Db) {
  /** Evaluates to 1 when a live server holds a connection of the device's host. */
  const isConnected: RawBuilder<number> = sql`CASE WHEN node.id IS NOT NULL AND host_session.ended_at IS NULL
    AND ${hasLease(db)} THEN 1 ELSE 0 END`;
  const placed = () =>
    db
      .selectFrom('device')
      .leftJoin('host_session', (join) =>
        join
          .onRef('host_session.owner_id', '=', 'device.owner_id')
          .on('host_session.host_id', '=', sql<string>`lower(device.host_id)`),
      )
      .leftJoin('node', 'node.id', 'host_session.node_id');
  const select = () =>
    placed()
      .selectAll('device')
      .select(['host_session.epoch as session_epoch', 'host_session.opened_at', 'host_session.ended_at'])
      .select([
        'host_session.knows_secrets',
        'host_session.knows_app_limits',
        'host_session.node_id',
        'node.lease_until',
      ])
      .select([isConnected.as('is_connected'), lastRenewal(db).as('renewed_at')]);
  const listByIds = (ids: readonly string[]): Promise<DevicePlacement[]> =>
    select().where('device.id', 'in', textsIn(db, ids)).execute();
  return {
    find: batchQueries(async (ids: readonly string[]): Promise<(DevicePlacement | undefined)[]> => {
      const found = new Map((await listByIds(ids)).map((row) => [row.id, row]));
      return ids.map((id) => found.get(id));
    }),

    listByIds,

    /** Lists at most `limit` devices after the cursor, in the order of their IDs. */
    listPageOf: (ownerId: string, { after, limit }: DevicePage): Promise<DevicePlacement[]> =>
      select()
        .where('device.owner_id', '=', ownerId)
        .where('device.id', '>', after)
        .orderBy('device.id')
        .limit(limit)
        .execute(),

    /** Counts the devices of these hosts by last reported state and connection. */
    countStatesOf: (ownerId: string, hostIds: readonly string[]): Promise<StateCount[]> =>
      db
        .selectFrom('device')
        .select(['host_id', 'epoch', 'state'])
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('owner_id', '=', ownerId)
        .where('host_id', 'in', textsIn(db, hostIds))
        .groupBy(['host_id', 'epoch', 'state'])
        .execute(),

    countOwned: (ownerId: string): Promise<number> => countOwned(db, ownerId),

    /** Counts the devices that no connected host has. */
    async countOffline(): Promise<number> {
      const isHeld = sql<number>`CASE WHEN device.epoch = host_session.epoch THEN ${isConnected} ELSE 0 END`;
      const query = placed().select(sql<number>`count(*) - coalesce(sum(${isHeld}), 0)`.as('count'));
      return (await query.executeTakeFirstOrThrow()).count;
    },
  };
}
