import type { Row } from '../../storage/db/tables/tables.ts';

/** Row of a device, without its lease count, which only the lease code uses. */
export type StoredDevice = Omit<Row<'device'>, 'lease_changes'>;
