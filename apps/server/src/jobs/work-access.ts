import { ApiError } from '../errors/api-error.ts';
import { pageLimit } from '../http/replies/page.ts';
import type { Principal } from '../http/principal.ts';
import { type ProjectAccess, readers } from '../projects/project-access.ts';
import { isWithinLimit, limitOf } from './token-limits.ts';

/** A job, or a schedule. */
interface Work {
  user_id: string;
  project_id: string;
  token_phones: string | null;
}

interface Asked<Row extends Work> {
  principal: Principal;
  /** What there is of the ID that was given. */
  row: Row | undefined;
  /** Of whom more than the maker may do what is asked; by default all who see the project. */
  roles?: typeof readers | undefined;
  missing: ApiError;
  kind: 'job' | 'schedule';
}

/** The user's own, and those of projects in which they have one of the roles. */
export async function requireWork<Row extends Work>(
  projects: ProjectAccess,
  { principal, row, roles = readers, missing, kind }: Asked<Row>,
): Promise<Row> {
  const role = row && (await projects.findProject(principal, row.project_id))?.role;
  const isOwn = row?.user_id === principal.userId && principal.projectIds?.has(row.project_id) !== false;
  if (row === undefined || !(isOwn || role !== undefined) || !isWithinLimit(principal, row)) throw missing;
  if (isOwn || (role !== undefined && roles.includes(role))) return row;
  throw ApiError.of('forbidden', {
    reason: `A ${kind} is changed by whoever made it and by editors of its project`,
  });
}

/** Which of it a list has: as above, one more than the page. */
export const listedWork = (
  principal: Principal,
  query: { automation_id?: string; cursor?: string; limit?: number },
) => ({
  ...{ userId: principal.userId, projectIds: principal.projectIds, phones: limitOf(principal) },
  ...{ projectId: query.automation_id?.toLowerCase(), cursor: query.cursor?.toLowerCase() },
  limit: pageLimit(query) + 1,
});
