import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './database.ts';
import { textsIn } from './dialect.ts';
import type { Database } from './tables/tables.ts';

/** Filter of a list of jobs or schedules. */
export interface WorkFilter {
  userId: string;
  /** The only projects whose work may be seen; null: all. */
  projectIds: ReadonlySet<string> | null;
  /** The only limit with which they were made, by the user themselves; null: any. */
  phones: string | null;
  projectId: string | undefined;
  /** The list goes on below this ID. */
  cursor: string | undefined;
}

/** The projects that a list for the user has: own and accepted ones, or that which it names, accepted or not. */
export const projectsOf = (userId: string, named: string | undefined): RawBuilder<string> =>
  sql<string>`(SELECT id FROM project WHERE owner_id = ${userId}
    UNION SELECT project_id FROM project_member AS member WHERE member.user_id = ${userId}
      AND (member.accepted_at IS NOT NULL OR member.project_id = ${named ?? ''}))`;

/** The user's own, and those of projects that they have accepted or named: a condition on the table `job`, or `schedule`. */
export function isListed(
  db: Db,
  { userId, projectIds, phones, projectId, cursor }: WorkFilter,
): Expression<SqlBool> {
  // The two tables have these columns in common.
  const eb = expressionBuilder<Database, 'job'>();
  const mine = projectsOf(userId, projectId);
  const conditions = [eb.or([eb('user_id', '=', userId), eb('project_id', 'in', mine)])];
  if (phones !== null) conditions.push(eb.and([eb('user_id', '=', userId), eb('token_phones', '=', phones)]));
  if (projectIds !== null) conditions.push(eb('project_id', 'in', textsIn(db, [...projectIds])));
  if (projectId !== undefined) conditions.push(eb('project_id', '=', projectId));
  if (cursor !== undefined) conditions.push(eb('id', '<', cursor));
  return eb.and(conditions);
}
