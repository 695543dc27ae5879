import type { Transaction } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { enqueue } from '../../storage/db/work-queue.ts';

/**
 * Enqueues the sending of a webhook's waiting deliveries. Work belongs to a webhook, not to a delivery: one server at a
 * time sends its messages, and the webhooks of a user share places. A transaction that locks rows of webhooks or
 * deliveries does so after this call, because the end of an attempt locks them in that order.
 */
export const enqueueMessages = (
  transaction: Transaction,
  { id, user_id: lane }: Pick<Row<'webhook'>, 'id' | 'user_id'>,
  now: number,
): Promise<void> => enqueue(transaction, 'send webhook messages', [{ key: id, lane, dueAt: now }]);
