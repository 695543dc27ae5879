import type { Row } from '../db/tables/tables.ts';

/** How its leases are counted is a matter of those. */
export type StoredDevice = Omit<Row<'device'>, 'lease_changes'>;
