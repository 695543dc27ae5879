import { sql } from 'kysely';

import type { Db, Transaction } from './database.ts';
import { textsIn } from './dialect.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { minuteMs, dayMs } from '@phalanx/timing/durations';

/** Limits of a token per day. */
export interface Budget {
  readonly tokenId: string;
  readonly tokenName: string;
  /** Maximum number of runs that begin; null for no limit. */
  readonly runs: number | null;
  /** Maximum total minutes of all its runs; null for no limit. */
  readonly minutes: number | null;
}

/** Usage of a token today. */
export interface TokenUse {
  readonly runs: number;
  /** Total time of the runs that have ended today and of active runs, in ms. */
  readonly runMs: number;
}

/** Returns the number of a day. Days end for all users at midnight UTC. */
const dayOf = (now: number): number => Math.floor(now / dayMs);
export const freeAt = (now: number): number => (dayOf(now) + 1) * dayMs;

export const unused: TokenUse = { runs: 0, runMs: 0 };

/** Reads the usage of tokens with a budget. A trigger adds the time of a run when it ends; a row covers one day. */
export async function readTokenUse(
  db: Db,
  tokenIds: readonly string[],
  now: number,
): Promise<(tokenId: string) => TokenUse> {
  if (tokenIds.length === 0) return () => unused;
  const stored = await db
    .selectFrom('token_use')
    .select(['token_id', 'runs', 'run_ms'])
    .where('token_id', 'in', textsIn(db, tokenIds))
    .where('day', '=', dayOf(now))
    .execute();
  const going = await db
    .selectFrom('run')
    .innerJoin('launch', 'launch.id', 'run.launch')
    .select(['launch.budget_token', 'run.started_at'])
    .where('run.ended_at', 'is', null)
    .where('launch.budget_token', 'in', textsIn(db, tokenIds))
    .execute();
  const uses = new Map<string, TokenUse>();
  for (const { token_id: id, runs, run_ms: runMs } of stored) uses.set(id, { runs, runMs });
  for (const { budget_token: id, started_at: at } of going) {
    if (id === null || at === null) continue;
    const { runs, runMs } = uses.get(id) ?? unused;
    uses.set(id, { runs, runMs: runMs + Math.max(0, now - at) });
  }
  return (tokenId) => uses.get(tokenId) ?? unused;
}

/**
 * Counts runs that begin. Call it in the transaction that stores them, which serializes the launches of a user. Throws
 * `budget_spent`.
 */
export async function spendBudget(
  transaction: Transaction,
  budget: Budget,
  { runs, now }: { runs: number; now: number },
): Promise<void> {
  const { tokenId } = budget;
  const used = await requireBudget(transaction, budget, { runs, now });
  const today = dayOf(now);
  await transaction
    .insertInto('token_use')
    .values({ token_id: tokenId, day: today, runs, run_ms: 0 })
    .onConflict((conflict) =>
      conflict.column('token_id').doUpdateSet({
        day: today,
        runs: used.runs + runs,
        run_ms: sql<number>`CASE WHEN token_use.day = ${today} THEN token_use.run_ms ELSE 0 END`,
      }),
    )
    .execute();
  // Deletes the rows of tokens that were deleted or are no longer used.
  if (used.runs === 0)
    await transaction
      .deleteFrom('token_use')
      .where('day', '<', today - 1)
      .execute();
}

/** Reads what the token has used today. Throws `budget_spent` unless the budget allows this many more runs. */
export async function requireBudget(
  db: Db,
  budget: Budget,
  more: { runs: number; now: number },
): Promise<TokenUse> {
  const used = (await readTokenUse(db, [budget.tokenId], more.now))(budget.tokenId);
  requireLeft(budget, used, more);
  return used;
}

function requireLeft(
  { tokenName, runs: maxRuns, minutes: maxMinutes }: Budget,
  used: TokenUse,
  { runs, now }: { runs: number; now: number },
): void {
  const refuse = (most: string, usedText: string): ApiError => {
    const details = { token: tokenName, most, used: usedText, free_at: new Date(freeAt(now)).toISOString() };
    return ApiError.of('budget_spent', details, { retryAfterS: Math.ceil((freeAt(now) - now) / 1000) });
  };
  if (maxRuns !== null && used.runs + runs > maxRuns)
    throw refuse(`${maxRuns} runs`, `${used.runs}, and ${runs} more would begin`);
  if (maxMinutes !== null && used.runMs >= maxMinutes * minuteMs)
    throw refuse(`${maxMinutes} minutes of runs`, String(Math.floor(used.runMs / minuteMs)));
}
