import { reachesProject } from '../../http/requests/policy.ts';
import { reachesPhone } from '../../fleet/devices/phone-reach.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import { type KeptToken, keptTokenOf, limitOf, readLimit } from '../../http/requests/kept-token.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { type ProjectAccess, readers } from '../../code/projects/project-access.ts';

/** Job or schedule. */
interface Work {
  user_id: string;
  project_id: string;
  token_phones: string | null;
}

interface Asked<Row extends Work> {
  principal: Principal;
  /** Row with the given ID, if there is one. */
  row: Row | undefined;
  /** Roles that may make the request, in addition to the maker. Default: all users who see the project. */
  roles?: typeof readers | undefined;
  missing: ApiError;
  kind: 'job' | 'schedule';
}

/** Requires work of the user, or of a project in which they have one of the roles. */
export async function requireWork<Row extends Work>(
  projects: ProjectAccess,
  { principal, row, roles = readers, missing, kind }: Asked<Row>,
): Promise<Row> {
  const role = row && (await projects.findProject(principal, row.project_id))?.role;
  const isOwn = row?.user_id === principal.userId && reachesProject(principal, row.project_id);
  if (row === undefined || !(isOwn || role !== undefined) || !isWithinLimit(principal, row)) throw missing;
  if (isOwn || (role !== undefined && roles.includes(role))) return row;
  throw ApiError.of('forbidden', {
    reason: `Only the creator of a ${kind} and editors of its project can change it`,
  });
}

/** Returns the filter of a list, with the access rules of `requireWork`. */
export const listedWork = (principal: Principal, query: { automation_id?: string }) => ({
  userId: principal.userId,
  projectIds: principal.projectIds,
  phones: limitOf(principal),
  projectId: query.automation_id?.toLowerCase(),
});

/**
 * Whether the token may access the row. A token with a phone limit may access only its user's work with the same limit.
 */
const isWithinLimit = (
  principal: Principal,
  { user_id, token_phones }: { user_id: string; token_phones: string | null },
): boolean =>
  principal.phones === null || (user_id === principal.userId && token_phones === limitOf(principal));

/** Joins the selector of the job and that of its token's limit. Returns null when any phone is allowed. */
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

/** User that a job or a schedule runs as, with the limits of the token with which they made or last changed it. */
export interface Maker extends KeptToken {
  readonly user_id: string;
}

export const makerOf = (principal: Principal): Maker => ({
  user_id: principal.userId,
  ...keptTokenOf(principal),
});

/** Requires that the user who takes over work may launch on the phones that it names. Throws `devices_unavailable`. */
export async function requireNamedPhones(
  devices: DeviceAccess,
  principal: Principal,
  ids: readonly string[] = [],
): Promise<void> {
  const seen = await devices.findAll(ids, principal.userId);
  const others = ids.filter((id) => {
    const one = seen.get(id);
    return one === undefined || one.role === 'view' || !reachesPhone(devices.labels, principal, one.device);
  });
  if (others.length > 0) throw ApiError.of('devices_unavailable', { devices: boundedList(others, ', ') });
}
