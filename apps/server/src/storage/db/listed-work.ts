import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './database.ts';
import { textsIn } from './dialect.ts';
import type { Database } from './tables/tables.ts';

/** Filter of a list of jobs or schedules. */
export interface WorkFilter {
  userId: string;
  /** Projects whose work may be listed; null for all. */
  projectIds: ReadonlySet<string> | null;
  /** Limit of the token with which the user must have created the work; null for any. */
  phones: string | null;
  projectId: string | undefined;
  /** ID below which the list continues. */
  cursor: string | undefined;
}

/** Selects the projects of a list: the user's own and accepted ones, and the named one even if it is not accepted. */
export const projectsOf = (userId: string, named: string | undefined): RawBuilder<string> =>
  sql<string>`(SELECT id FROM project WHERE owner_id = ${userId}
    UNION SELECT project_id FROM project_member AS member WHERE member.user_id = ${userId}
      AND (member.accepted_at IS NOT NULL OR member.project_id = ${named ?? ''}))`;

/**
 * Returns a condition on the table `job` or `schedule` for the user's own work, and for work of projects that they have
 * accepted or named.
 */
export function isListed(
  db: Db,
  { userId, projectIds, phones, projectId, cursor }: WorkFilter,
): Expression<SqlBool> {
  // The tables `job` and `schedule` share these columns.
  const eb = expressionBuilder<Database, 'job'>();
  const mine = projectsOf(userId, projectId);
  const conditions = [eb.or([eb('user_id', '=', userId), eb('project_id', 'in', mine)])];
  if (phones !== null) conditions.push(eb.and([eb('user_id', '=', userId), eb('token_phones', '=', phones)]));
  if (projectIds !== null) conditions.push(eb('project_id', 'in', textsIn(db, [...projectIds])));
  if (projectId !== undefined) conditions.push(eb('project_id', '=', projectId));
  if (cursor !== undefined) conditions.push(eb('id', '<', cursor));
  return eb.and(conditions);
}
