import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely';

import { isPostgres } from './dialect.ts';

/** Duration of a lease: a server that has not renewed it for this long is gone. */
export const leaseMs = 5000;

/** Epoch ms of the one clock that all servers share. */
export const databaseTime = <Tables>(db: Kysely<Tables>): RawBuilder<number> =>
  isPostgres(db)
    ? sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
    : sql`cast(unixepoch('subsec') * 1000 as integer)`;

/** Whether servers have to renew leases. A server with a file of SQLite has it for as long as it lives. */
export const hasLeases = <Tables>(db: Kysely<Tables>): boolean => isPostgres(db);

/** Time when the lease of a server that is alive now ends. */
export const leaseEnd = <Tables>(db: Kysely<Tables>): RawBuilder<number | null> =>
  hasLeases(db) ? sql`${databaseTime(db)} + ${sql.lit(leaseMs)}` : sql`NULL`;

/** Whether the server of a row is alive. */
export const hasLease = <Tables>(db: Kysely<Tables>): RawBuilder<SqlBool> =>
  hasLeases(db) ? sql`lease_until >= ${databaseTime(db)}` : sql`1 = 1`;

/** Time when the server of a row last renewed its lease. */
export const lastRenewal = <Tables>(db: Kysely<Tables>): RawBuilder<number | null> =>
  hasLeases(db) ? sql`lease_until - ${sql.lit(leaseMs)}` : sql`NULL`;

/** Whether the server of a row, which is not this one, is gone. */
export const isLeaseOver = <Tables>(db: Kysely<Tables>): RawBuilder<SqlBool> =>
  hasLeases(db) ? sql`lease_until < ${databaseTime(db)}` : sql`1 = 1`;
