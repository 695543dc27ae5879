import type { Row } from '../../storage/db/tables/tables.ts';

/** How its leases are counted is a matter of those. */
export type StoredDevice = Omit<Row<'device'>, 'lease_changes'>;
