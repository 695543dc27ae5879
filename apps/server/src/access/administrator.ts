import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';

export function requireAdministrator({ role, projectIds }: Principal): void {
  if (role === 'admin' && projectIds === null) return;
  throw ApiError.of('forbidden', {
    reason: 'Only administrators manage users, with tokens that are not limited to projects',
  });
}
