import type { Transaction } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { enqueue } from '../../storage/db/work-queue.ts';

/**
 * Has a server send what waits for a webhook. Work is about a webhook, not about a delivery: so its messages are one
 * server's at a time, and the webhooks of a user share places. A transaction that locks rows of webhooks or deliveries
 * does so after this, because the end of an attempt locks them in that order.
 */
export const enqueueMessages = (
  transaction: Transaction,
  { id, user_id: lane }: Pick<Row<'webhook'>, 'id' | 'user_id'>,
  now: number,
): Promise<void> => enqueue(transaction, 'send webhook messages', [{ key: id, lane, dueAt: now }]);
