import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { ApiError } from '../errors/api-error.ts';
import { pageLimit } from '../http/replies/list-replies.ts';
import type { Principal, PhoneLimit } from '../http/principal.ts';
import { type ProjectAccess, readers } from '../projects/project-access.ts';
import type { Budget } from '../limits/use-store.ts';

const limits = Compile(
  Type.Object({
    selector: Type.Union([Type.String(), Type.Null()]),
    most: Type.Union([Type.Integer(), Type.Null()]),
    apps: Type.Union([Type.Array(Type.String()), Type.Null()]),
  }),
);

const budgets = Compile(
  Type.Object({
    ...{ tokenId: Type.String(), tokenName: Type.String() },
    runs: Type.Union([Type.Integer(), Type.Null()]),
    minutes: Type.Union([Type.Integer(), Type.Null()]),
  }),
);

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

/** The limit of the token, as rows of jobs and schedules keep it: equal limits are equal texts. */
export const limitOf = ({ phones }: Principal): string | null =>
  phones === null
    ? null
    : JSON.stringify({ selector: phones.selector, most: phones.most, apps: phones.apps });

export const readLimit = (json: string | null): PhoneLimit | null =>
  json === null ? null : limits.Parse(JSON.parse(json));

/** Such a token reaches what was made with its own limit; any other token, what its user reaches. */
const isWithinLimit = (
  principal: Principal,
  { user_id, token_phones }: { user_id: string; token_phones: string | null },
): boolean =>
  principal.phones === null || (user_id === principal.userId && token_phones === limitOf(principal));

/** The terms of the job and of its token's limit; null: any phone. */
export function limitedSelector({
  selector,
  token_phones,
}: {
  selector: string | null;
  token_phones: string | null;
}): string | null {
  const terms = [selector, readLimit(token_phones)?.selector ?? null].filter((one) => one !== null);
  return terms.length === 0 ? null : terms.join(',');
}

/** What the token may use in a day, as rows of jobs and schedules keep it. */
export const keptBudget = ({ budget }: Principal): string | null =>
  budget === null ? null : JSON.stringify(budget);

export const readBudget = (json: string | null): Budget | null =>
  json === null ? null : budgets.Parse(JSON.parse(json));
