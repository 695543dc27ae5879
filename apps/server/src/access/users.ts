import type { User } from '@phalanx/protocol';

import { isUniqueViolation } from '../db/unique-violation.ts';
import { ApiError } from '../errors/api-error.ts';
import type { StoredUser } from './store.ts';

export function userView({ id, name, role, created_at, disabled_at }: StoredUser): User {
  return { id, name, role, created_at, disabled_at };
}

/** Tells of a name that is taken in words for the caller. */
export const explainUserName = (error: unknown, name: string): unknown =>
  isUniqueViolation(error) ? ApiError.of('user_name_taken', { name }, { cause: error }) : error;
