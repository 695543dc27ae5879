import type { Scope } from '@phalanx/protocol';

/** Who makes a request, and what the token of the request allows. */
export interface Principal {
  readonly userId: string;
  readonly userName: string;
  readonly role: 'admin' | 'user';
  readonly tokenId: string;
  readonly tokenName: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The only projects the token may touch; `null` for all of its user. */
  readonly projectIds: ReadonlySet<string> | null;
  /** When the token ends, epoch ms; `null`: never. What outlives a request has to look at it again. */
  readonly expiresAt: number | null;
}

/** Whether the caller administers the service with this token. */
export const seesEveryone = ({ role, scopes, projectIds }: Principal): boolean =>
  role === 'admin' && scopes.has('admin') && projectIds === null;
