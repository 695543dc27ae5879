import type { Transaction } from '../../storage/db/database.ts';
import { roomWithin } from '../../storage/db/quota.ts';

/** Returns how many more tasks of the user may wait, when at most `max` may wait in all their jobs together. */
export function roomForTasks(transaction: Transaction, userId: string, max: number): Promise<number> {
  return roomWithin(transaction, { kind: 'jobs', owner: userId, max }, async () => {
    const { waiting } = await transaction
      .selectFrom('job')
      .select((eb) => eb.fn.sum<number | null>('waiting').as('waiting'))
      .where('user_id', '=', userId)
      .where('waiting', '>', 0)
      .executeTakeFirstOrThrow();
    return Number(waiting ?? 0);
  });
}
