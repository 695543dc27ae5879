import type { Row } from '../../storage/db/tables/tables.ts';

/** Row of a device, without the count of its leases, which is a matter of those. */
export type StoredDevice = Omit<Row<'device'>, 'lease_changes'>;
