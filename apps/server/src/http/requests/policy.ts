import { answersOf, type Door, type LimitKind, type Reach, type Scope } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from './principal.ts';

const forbidden = (reason: string): ApiError => ApiError.of('forbidden', { reason });

/** Whether this token may administer the service. */
export const seesEveryone = ({ role, scopes, projectIds, phones }: Principal): boolean =>
  role === 'admin' && scopes.has('admin') && projectIds === null && phones === null;

/**
 * Whether the token of the caller may touch the project. `projectId`: in lower case, or the launch ID of direct code.
 */
export const reachesProject = ({ projectIds }: Pick<Principal, 'projectIds'>, projectId: string): boolean =>
  projectIds?.has(projectId) !== false;

export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw forbidden(`This token does not have the scope "${scope}"`);
}

/** Lists the kinds of limits of the caller's token. */
function limitsOf({ projectIds, phones, budget }: Principal): LimitKind[] {
  const kinds: readonly (LimitKind | undefined)[] = [
    projectIds === null ? undefined : 'projects',
    phones === null || phones.selector === null ? undefined : 'phones',
    phones === null || phones.apps === null ? undefined : 'apps',
    phones === null || phones.maxPhones === null ? undefined : 'max_phones',
    budget === null ? undefined : 'budget',
  ];
  return kinds.filter((kind) => kind !== undefined);
}

const closedTo: Record<LimitKind, string> = {
  projects: 'A token that is limited to projects may not use this endpoint',
  phones: 'A token that is limited to phones or apps may not use this endpoint',
  apps: 'A token that is limited to phones or apps may not use this endpoint',
  max_phones: 'A token that is limited to phones or apps may not use this endpoint',
  budget: 'A token with a budget may not use this endpoint',
};

function requireOpen(principal: Principal, reach: Reach): void {
  const limits = limitsOf(principal);
  if (limits.length > 0) {
    const answers = answersOf(reach);
    const limit = limits.find((kind) => answers[kind] === 'refused');
    if (limit !== undefined) throw forbidden(closedTo[limit]);
  }
  if (reach.administrators === true && !seesEveryone(principal))
    throw forbidden('Only administrators may use this endpoint, and only with a token that is not limited');
}

/**
 * Whether this caller may go through this door at all, which every door asks: endpoints before anything of a body is
 * read, git and the WebSocket of hosts when the caller is known. Which phones a limited token reaches there is asked by
 * `phone-reach.ts`, and what is the caller's own by the feature. Throws `forbidden`.
 */
export function requireAllowed(principal: Principal, { scope, reach }: Door): void {
  requireScope(principal, scope);
  requireOpen(principal, reach);
}
