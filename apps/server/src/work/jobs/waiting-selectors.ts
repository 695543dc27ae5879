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
  const waiting = await transaction
    .selectFrom('job')
    .select(['selector', 'token_phones'])
    .distinct()
    .where('user_id', '=', job.user_id)
    .where('waiting', '>', 0)
    .where((eb) => eb.or([eb('selector', 'is not', null), eb('token_phones', 'is not', null)]))
    .limit(maxWaitingSelectors + 1)
    .execute();
  const isThere = waiting.some(
    ({ selector, token_phones }) => selector === job.selector && token_phones === job.token_phones,
  );
  return !isThere && waiting.length >= maxWaitingSelectors;
}
