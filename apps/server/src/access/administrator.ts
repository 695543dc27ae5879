import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';

export function requireAdministrator({ role, projectIds, phones }: Principal): void {
  if (role === 'admin' && projectIds === null && phones === null) return;
  throw ApiError.of('forbidden', {
    reason: 'Only administrators manage users, with tokens that are not limited to projects',
  });
}
