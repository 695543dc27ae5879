import { Type, type Static } from 'typebox';

/**
 * What a token may do: `read` everything its user sees, `launch` and stop, `edit` projects, `review` records,
 * connect as a `host`, and `admin`: manage tokens (and, for administrators, users).
 */
export const scopes = ['read', 'launch', 'edit', 'review', 'host', 'admin'] as const;
export const Scope = Type.Enum(scopes, { title: 'Scope' });
export type Scope = Static<typeof Scope>;

/** What a token gets when its maker names no scopes. */
export const defaultScopes: readonly Scope[] = ['read', 'launch', 'edit', 'review'];
