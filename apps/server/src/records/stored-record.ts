import type { Row } from '../db/tables/tables.ts';

export type StoredRecord = Row<'record'>;
export type StoredScreen = Row<'record_screen'>;
