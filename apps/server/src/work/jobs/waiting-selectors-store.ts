import type { Transaction } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';

/** Each is tried on each phone that becomes free. */
export const maxWaitingSelectors = 200;

/** Whether a job, with its tasks waiting, would be one too many of its user that means other phones by a selector. */
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
  // Most jobs have a selector that others have: one row says so.
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
