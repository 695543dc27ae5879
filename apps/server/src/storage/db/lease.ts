import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely';

import { isPostgres } from './dialect.ts';

/** Duration of a lease in ms. A server that has not renewed its lease for this long counts as dead. */
export const leaseMs = 5000;

/** Returns the time of the database's clock, which all servers share, as epoch ms. */
export const databaseTime = <Tables>(db: Kysely<Tables>): RawBuilder<number> =>
  isPostgres(db)
    ? sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
    : sql`cast(unixepoch('subsec') * 1000 as integer)`;

/** Whether servers have to renew leases. An SQLite file belongs to one server as long as that server lives. */
export const hasLeases = <Tables>(db: Kysely<Tables>): boolean => isPostgres(db);

/** Returns the time when the lease of a server that is alive now ends. */
export const leaseEnd = <Tables>(db: Kysely<Tables>): RawBuilder<number | null> =>
  hasLeases(db) ? sql`${databaseTime(db)} + ${sql.lit(leaseMs)}` : sql`NULL`;

/** Whether the server of a row is alive. */
export const hasLease = <Tables>(db: Kysely<Tables>): RawBuilder<SqlBool> =>
  hasLeases(db) ? sql`lease_until >= ${databaseTime(db)}` : sql`1 = 1`;

/** Returns the time when the server of a row last renewed its lease. */
export const lastRenewal = <Tables>(db: Kysely<Tables>): RawBuilder<number | null> =>
  hasLeases(db) ? sql`lease_until - ${sql.lit(leaseMs)}` : sql`NULL`;

/** Whether the server of a row, which is not this one, is dead. */
export const isLeaseOver = <Tables>(db: Kysely<Tables>): RawBuilder<SqlBool> =>
  hasLeases(db) ? sql`lease_until < ${databaseTime(db)}` : sql`1 = 1`;
