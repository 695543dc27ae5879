import { entriesIn, replyOf, type StoredBatch } from '../log-batch.ts';
import type { BatchRow } from './log-tables-store.ts';

export function storedBatch<Row extends BatchRow>(row: Row): Omit<Row, 'entries'> & StoredBatch {
  const reply = replyOf([Buffer.from(row.entries)]);
  return { ...row, entries: entriesIn(reply), reply };
}
