import type { Transaction } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

/**
 * Maximum number of different selectors of waiting jobs per user. Each selector is tried on each phone that becomes
 * free.
 */
export const maxWaitingSelectors = 200;

/** Whether a waiting job would add one selector too many to those of its user. */
export async function isOneSelectorTooMany(
  transaction: Transaction,
  job: Pick<Row<'job'>, 'user_id' | 'selector' | 'token_phones'>,
): Promise<boolean> {
  if (job.selector === null && job.token_phones === null) return false;
  const waiting = transaction
    .selectFrom('job')
    .select(['selector', 'token_phones'])
    .where('user_id', '=', job.user_id)
    .where('waiting', '>', 0);
  // Most jobs share their selector with others, which one row proves.
  const same = waiting
    .where('selector', 'is not distinct from', job.selector)
    .where('token_phones', 'is not distinct from', job.token_phones);
  if ((await same.limit(1).executeTakeFirst()) !== undefined) return false;
  const others = await waiting
    .distinct()
    .where((eb) => eb.or([eb('selector', 'is not', null), eb('token_phones', 'is not', null)]))
    .limit(maxWaitingSelectors)
    .execute();
  return others.length >= maxWaitingSelectors;
}
