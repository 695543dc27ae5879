import type { User } from '@phalanx/protocol';

import { isUniqueViolation } from '../db/unique-violation.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';
import type { StoredUser } from './store.ts';

export function userView({ id, name, role, created_at, disabled_at }: StoredUser): User {
  return { id, name, role, created_at, disabled_at };
}

/** Tells of a name that is taken in words for the caller. */
export const explainUserName = (error: unknown, name: string): unknown =>
  isUniqueViolation(error) ? ApiError.of('user_name_taken', { name }, { cause: error }) : error;

export function requireAdministrator({ role, projectIds, phones }: Principal): void {
  if (role === 'admin' && projectIds === null && phones === null) return;
  throw ApiError.of('forbidden', {
    reason: 'Only administrators manage users, with tokens that are not limited to projects',
  });
}
